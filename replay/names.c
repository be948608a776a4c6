/*
 * Names of sinks' files.
 *
 *   TOPIC-PARTITION[.hHISTORY][.OFFSET].EXTENSION      jsonl and raw; OFFSET where files rotate,
 *                                                      or a group is joined
 *   TOPIC-PARTITION[.hHISTORY]/OFFSET.log              segments
 *
 * OFFSET is 20 digits, the first offset in the file.  Topic names hold no '/', and none is "." or
 * "..": so none leads outside the folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sink.h"

enum { OFFSET_DIGITS = 20 };

void krc_sink_extension(const krc_replay_options *options, char *text, size_t size)
{
    static const char *const kinds[] = {
        [KRC_REPLAY_JSONL] = "jsonl", [KRC_REPLAY_RAW] = "raw", [KRC_REPLAY_SEGMENT] = "log"};
    static const char *const packed[] = {
        [KRC_REPLAY_PLAIN] = "", [KRC_REPLAY_GZIP] = ".gz", [KRC_REPLAY_ZSTD] = ".zst"};
    snprintf(text, size, "%s%s", kinds[options->format], packed[options->compression]);
}

void krc_sink_stem(const char *topic, int32_t partition, int32_t history, char *text, size_t size)
{
    if (history > 1)
        snprintf(text, size, "%s-%d.h%d", topic, (int)partition, (int)history);
    else
        snprintf(text, size, "%s-%d", topic, (int)partition);
}

/* A member of a group has stretches of a partition, with those of others between. */
static bool rotates(const krc_replay_options *options)
{
    return options->rotate_bytes > 0 || options->rotate_hours > 0 || options->join;
}

void krc_sink_file_name(const struct krc_sink *sink, char *text, size_t size)
{
    const krc_replay_options *options = sink->run->options;
    char stem[KRC_SINK_NAME_MAX], extension[16];
    krc_sink_extension(options, extension, sizeof extension);
    krc_sink_stem(sink->place->topic, sink->place->partition, sink->at.history, stem, sizeof stem);
    if (options->format == KRC_REPLAY_SEGMENT)
        snprintf(text, size, "%020lld.%s", (long long)sink->at.file_offset, extension);
    else if (rotates(options))
        snprintf(text, size, "%.290s.%020lld.%s", stem, (long long)sink->at.file_offset, extension);
    else
        snprintf(text, size, "%.300s.%s", stem, extension);
}

/* A number without sign or leading zeros that ends the text; -1 where there is none.  `*len`
 * becomes what is before it. */
static int64_t take_last_number(const char *text, size_t *len)
{
    size_t at = *len;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    size_t digits = *len - at;
    if (digits == 0 || digits > 10 || (digits > 1 && text[at] == '0'))
        return -1;
    long long number = strtoll(text + at, NULL, 10);
    if (number > INT32_MAX)
        return -1;
    *len = at;
    return number;
}

bool krc_sink_parse_stem(const char *text, size_t len, struct krc_sink_name *name)
{
    size_t rest = len;
    int64_t number = take_last_number(text, &rest);
    name->history = 1;
    if (number > 1 && rest > 2 && memcmp(text + rest - 2, ".h", 2) == 0) {
        name->history = (int32_t)number;
        len = rest -= 2;
        number = take_last_number(text, &rest);
    }
    if (number < 0 || rest < 2 || text[rest - 1] != '-' || rest > sizeof name->topic)
        return false;
    name->partition = (int32_t)number;
    memcpy(name->topic, text, rest - 1);
    name->topic[rest - 1] = '\0';
    return true;
}

bool krc_sink_parse_name(const krc_replay_options *options, const char *text,
                         struct krc_sink_name *name)
{
    char extension[16];
    krc_sink_extension(options, extension, sizeof extension);
    size_t len = strlen(text), n = strlen(extension);
    if (len < n + 2 || text[len - n - 1] != '.' || strcmp(text + len - n, extension) != 0)
        return false;
    len -= n + 1;
    name->file_offset = -1;
    if (options->format == KRC_REPLAY_SEGMENT || rotates(options)) {
        if (len < OFFSET_DIGITS || strspn(text + len - OFFSET_DIGITS, "0123456789") < OFFSET_DIGITS)
            return false;
        len -= OFFSET_DIGITS;
        if (memcmp(text + len, "09223372036854775807", OFFSET_DIGITS) > 0)
            return false; /* no offset is above INT64_MAX */
        name->file_offset = strtoll(text + len, NULL, 10);
        if (options->format == KRC_REPLAY_SEGMENT)
            return len == 0;
        if (len == 0 || text[--len] != '.')
            return false;
    }
    return krc_sink_parse_stem(text, len, name);
}
