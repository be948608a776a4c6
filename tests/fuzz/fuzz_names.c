/*
 * Names of sinks' files.  The first byte chooses the options; a name that passes for a sink's is
 * the one that would be made of what it says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const krc_replay_options *options, const char *text)
{
    char again[KRC_SINK_NAME_MAX + 40];
    struct krc_sink_name name = {.partition = -1};
    if (!krc_sink_parse_name(options, text, &name))
        return;
    const struct krc_sink_run run = {.options = options};
    const struct krc_place place = {.topic = name.topic, .partition = name.partition};
    const struct krc_sink sink = {.run = &run, .place = &place,
                                  .at = {.history = name.history,
                                         .file_offset = name.file_offset}};
    krc_sink_file_name(&sink, again, sizeof again);
    if (strcmp(again, text) != 0)
        abort();
}

static void check_stem(const char *text)
{
    char again[KRC_SINK_NAME_MAX];
    struct krc_sink_name name;
    if (!krc_sink_parse_stem(text, strlen(text), &name))
        return;
    krc_sink_stem(name.topic, name.partition, name.history, again, sizeof again);
    if (name.partition < 0 || name.history < 1 || strcmp(again, text) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = strndup((const char *)data + 1, size - 1);
    if (text == NULL)
        return 0;
    const krc_replay_options options = {
        .format = (enum krc_replay_format)(data[0] % 3),
        .compression = (enum krc_replay_compression)(data[0] / 3 % 3),
        .rotate_bytes = data[0] / 9 % 2,
    };
    check_name(&options, text);
    check_stem(text);
    free(text);
    return 0;
}
