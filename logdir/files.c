#include "logdir/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "base/uuid.h"

/*
 * .index, 8 bytes an entry:       .timeindex, 12:                 .txnindex, 34:
 *   0  int32  offset - base         0  int64  timestamp             0  int16  version
 *   4  int32  position              8  int32  offset - base         2  int64  producer id
 *                                                                  10  int64  first offset
 *                                                                  18  int64  last offset
 *                                                                  26  int64  last stable offset
 */
struct krc_index_entry krc_index_entry(const uint8_t *file, size_t i, int64_t base_offset)
{
    const uint8_t *p = file + i * KRC_INDEX_ENTRY;
    return (struct krc_index_entry){
        .offset = (int64_t)((uint64_t)base_offset + krc_be32(p)),
        .position = krc_be32(p + 4),
    };
}

struct krc_timeindex_entry krc_timeindex_entry(const uint8_t *file, size_t i, int64_t base_offset)
{
    const uint8_t *p = file + i * KRC_TIMEINDEX_ENTRY;
    return (struct krc_timeindex_entry){
        .timestamp_ms = (int64_t)krc_be64(p),
        .offset = (int64_t)((uint64_t)base_offset + krc_be32(p + 8)),
    };
}

struct krc_txnindex_entry krc_txnindex_entry(const uint8_t *file, size_t i)
{
    const uint8_t *p = file + i * KRC_TXNINDEX_ENTRY;
    return (struct krc_txnindex_entry){
        .version = (int16_t)krc_be16(p),
        .producer_id = (int64_t)krc_be64(p + 2),
        .first_offset = (int64_t)krc_be64(p + 10),
        .last_offset = (int64_t)krc_be64(p + 18),
        .last_stable_offset = (int64_t)krc_be64(p + 26),
    };
}

static size_t used_entries(const uint8_t *file, size_t size, size_t entry)
{
    size_t end = size / entry * entry;
    while (end > 0 && file[end - 1] == 0)
        end--;
    return (end + entry - 1) / entry;
}

size_t krc_index_entries(const uint8_t *file, size_t size)
{
    return used_entries(file, size, KRC_INDEX_ENTRY);
}

size_t krc_timeindex_entries(const uint8_t *file, size_t size)
{
    return used_entries(file, size, KRC_TIMEINDEX_ENTRY);
}

/*
 * N.snapshot:
 *   0  int16   version, 1
 *   2  uint32  CRC-32C of all behind it
 *   6  int32   how many producers
 *  10  46 bytes each:
 *       0  int64  producer id           26  int64  timestamp
 *       8  int16  producer epoch        34  int32  coordinator epoch
 *      10  int32  last sequence         38  int64  first offset of the open transaction, -1: none
 *      14  int64  last offset
 *      22  int32  offset delta
 */
enum { SNAPSHOT_HEADER = 10, SNAPSHOT_PRODUCER = 46 };

int krc_snapshot_parse(const uint8_t *file, size_t size, int32_t *count, krc_error *error)
{
    if (size < SNAPSHOT_HEADER)
        return krc_fail(error, KRC_E_CORRUPT, "a producer snapshot of only %zu bytes", size);
    if (krc_be16(file) != 1)
        return krc_fail(error, KRC_E_UNSUPPORTED, "a producer snapshot of version %d, not 1",
                        (int16_t)krc_be16(file));
    if (krc_crc32c(0, file + 6, size - 6) != krc_be32(file + 2))
        return krc_fail(error, KRC_E_CORRUPT, "a producer snapshot with a wrong checksum");
    uint32_t producers = krc_be32(file + 6);
    if (producers > INT32_MAX || (size - SNAPSHOT_HEADER) / SNAPSHOT_PRODUCER != producers ||
        (size - SNAPSHOT_HEADER) % SNAPSHOT_PRODUCER != 0)
        return krc_fail(error, KRC_E_CORRUPT, "a producer snapshot of %zu bytes for %d producers",
                        size, (int32_t)producers);
    *count = (int32_t)producers;
    return KRC_OK;
}

struct krc_producer_state krc_snapshot_producer(const uint8_t *file, int32_t i)
{
    const uint8_t *p = file + SNAPSHOT_HEADER + (size_t)i * SNAPSHOT_PRODUCER;
    return (struct krc_producer_state){
        .producer_id = (int64_t)krc_be64(p),
        .producer_epoch = (int16_t)krc_be16(p + 8),
        .last_sequence = (int32_t)krc_be32(p + 10),
        .last_offset = (int64_t)krc_be64(p + 14),
        .offset_delta = (int32_t)krc_be32(p + 22),
        .timestamp_ms = (int64_t)krc_be64(p + 26),
        .coordinator_epoch = (int32_t)krc_be32(p + 34),
        .transaction_start = (int64_t)krc_be64(p + 38),
    };
}

/* ---- Text files ---------------------------------------------------------------------------- */

struct text {
    const char *p, *end;
};

/* The next line without its end; false where there is none. */
static bool next_line(struct text *text, struct text *line)
{
    if (text->p == text->end)
        return false;
    const char *newline = memchr(text->p, '\n', (size_t)(text->end - text->p));
    *line = (struct text){text->p, newline != NULL ? newline : text->end};
    text->p = newline != NULL ? newline + 1 : text->end;
    if (line->end > line->p && line->end[-1] == '\r')
        line->end--;
    return true;
}

/* Cuts the number off that a line ends with, and the space before it. */
static bool last_number(struct text *line, int64_t most, int64_t *number)
{
    const char *p = line->end;
    while (p > line->p && p[-1] >= '0' && p[-1] <= '9')
        p--;
    if (p == line->end || (p > line->p && p[-1] != ' '))
        return false;
    *number = 0;
    for (const char *digit = p; digit < line->end; digit++) {
        int value = *digit - '0';
        if (*number > (most - value) / 10)
            return false;
        *number = *number * 10 + value;
    }
    line->end = p > line->p ? p - 1 : p;
    return true;
}

static bool is_number(struct text line, int64_t most, int64_t *number)
{
    return last_number(&line, most, number) && line.p == line.end;
}

/* All checkpoints are: "0" for the version, how many lines follow, and these.  An empty file is one
 * that was never written. */
static int checkpoint_begin(struct text *text, int64_t *count, krc_error *error)
{
    struct text line;
    int64_t version;
    *count = 0;
    if (!next_line(text, &line))
        return KRC_OK;
    if (!is_number(line, INT32_MAX, &version) || version != 0)
        return krc_fail(error, KRC_E_CORRUPT, "a checkpoint that does not begin with version 0");
    if (!next_line(text, &line) || !is_number(line, INT32_MAX, count))
        return krc_fail(error, KRC_E_CORRUPT, "a checkpoint without the count of its lines");
    return KRC_OK;
}

static int checkpoint_end(int64_t said, int64_t found, krc_error *error)
{
    if (said == found)
        return KRC_OK;
    return krc_fail(error, KRC_E_CORRUPT, "a checkpoint of %lld lines that should have %lld",
                    (long long)found, (long long)said);
}

int krc_checkpoint_parse(const char *chars, size_t len, krc_checkpoint_fn *fn, void *arg,
                         krc_error *error)
{
    struct text text = {chars, chars + len}, line;
    int64_t said, found = 0;
    KRC_TRY(checkpoint_begin(&text, &said, error));
    for (; next_line(&text, &line); found++) {
        int64_t partition, offset;
        if (!last_number(&line, INT64_MAX, &offset) ||
            !last_number(&line, INT32_MAX, &partition) || line.p == line.end)
            return krc_fail(error, KRC_E_CORRUPT,
                            "a checkpoint whose line %lld is not TOPIC PARTITION OFFSET",
                            (long long)found + 3);
        KRC_TRY(fn(arg, line.p, (size_t)(line.end - line.p), (int32_t)partition, offset));
    }
    return checkpoint_end(said, found, error);
}

static int parse_epochs(struct text *text, struct krc_epoch_start *epochs, int64_t said,
                        krc_error *error)
{
    struct text line;
    int64_t found = 0;
    for (; next_line(text, &line); found++) {
        int64_t epoch, offset;
        if (!last_number(&line, INT64_MAX, &offset) || !last_number(&line, INT32_MAX, &epoch) ||
            line.p != line.end)
            return krc_fail(error, KRC_E_CORRUPT,
                            "a leader epoch checkpoint whose line %lld is not EPOCH OFFSET",
                            (long long)found + 3);
        if (found > 0 && found < said &&
            (epoch <= epochs[found - 1].epoch || offset < epochs[found - 1].start_offset))
            return krc_fail(error, KRC_E_CORRUPT,
                            "a leader epoch checkpoint that does not rise at line %lld",
                            (long long)found + 3);
        if (found < said)
            epochs[found] = (struct krc_epoch_start){(int32_t)epoch, offset};
    }
    return checkpoint_end(said, found, error);
}

int krc_epochs_parse(const char *chars, size_t len, struct krc_epoch_start **epochs, size_t *count,
                     krc_error *error)
{
    struct text text = {chars, chars + len};
    int64_t said;
    *epochs = NULL;
    *count = 0;
    KRC_TRY(checkpoint_begin(&text, &said, error));
    if (said > (int64_t)len) /* a line has at least four bytes */
        return checkpoint_end(said, 0, error);
    if (said == 0)
        return parse_epochs(&text, NULL, 0, error);
    *epochs = calloc((size_t)said, sizeof **epochs);
    if (*epochs == NULL)
        return krc_fail_nomem(error, (size_t)said * sizeof **epochs);
    int rc = parse_epochs(&text, *epochs, said, error);
    if (rc < 0) {
        free(*epochs);
        *epochs = NULL;
        return rc;
    }
    *count = (size_t)said;
    return KRC_OK;
}

/* What follows `name` on a line that begins with it. */
static bool find_value(const char *chars, size_t len, const char *name, struct text *value)
{
    struct text text = {chars, chars + len};
    size_t n = strlen(name);
    while (next_line(&text, value)) {
        if ((size_t)(value->end - value->p) >= n && memcmp(value->p, name, n) == 0) {
            value->p += n;
            return true;
        }
    }
    return false;
}

int krc_partition_metadata_parse(const char *chars, size_t len, struct krc_uuid *topic_id,
                                 krc_error *error)
{
    struct text version, id;
    int64_t number;
    if (!find_value(chars, len, "version: ", &version) || !is_number(version, INT32_MAX, &number) ||
        number != 0)
        return krc_fail(error, KRC_E_CORRUPT, "a partition.metadata that is not of version 0");
    if (find_value(chars, len, "topic_id: ", &id) && id.end - id.p == KRC_UUID_LETTERS &&
        krc_uuid_parse(id.p, topic_id))
        return KRC_OK;
    return krc_fail(error, KRC_E_CORRUPT,
                    "a partition.metadata without a topic id of 22 base64url characters");
}

void krc_meta_properties_cluster(const char *chars, size_t len, char *cluster_id, size_t size)
{
    struct text value;
    cluster_id[0] = '\0';
    if (!find_value(chars, len, "cluster.id=", &value) || (size_t)(value.end - value.p) >= size)
        return;
    memcpy(cluster_id, value.p, (size_t)(value.end - value.p));
    cluster_id[value.end - value.p] = '\0';
}
