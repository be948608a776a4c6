/*
 * Batches and records in the words of Kafka's DumpLogSegments, line for line.
 *
 * It differs in two places.  A message of magic 0 or 1 inside a set is shown without its checksum:
 * a batch with a wrong one is a fault here, and not shown at all.  KRaft's control records are
 * shown by their type alone.
 */
#include <inttypes.h>
#include <limits.h>

#include "base/bytes.h"
#include "logdir/verify.h"

void krc_dump_segment(FILE *out, const struct krc_log *log, size_t segment)
{
    char path[PATH_MAX];
    krc_log_path(log, segment, ".log", path, sizeof path);
    fprintf(out, "Dumping %s\nLog starting offset: %" PRId64 "\n", path,
            log->segments[segment].base_offset);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static const char *time_name(int type)
{
    static const char *const names[] = {"NoTimestampType", "CreateTime", "LogAppendTime"};
    return names[type];
}

/* Sequence numbers go from 2^31 - 1 on to 0. */
static int32_t sequence(const struct krc_batch_header *header, int64_t delta)
{
    return header->base_sequence < 0 ? -1 : (int32_t)((header->base_sequence + delta) & INT32_MAX);
}

static void dump_v2(FILE *out, const struct krc_batch_header *h)
{
    fprintf(out,
            "baseOffset: %" PRId64 " lastOffset: %" PRId64 " count: %" PRId32
            " baseSequence: %" PRId32 " lastSequence: %" PRId32 " producerId: %" PRId64
            " producerEpoch: %d partitionLeaderEpoch: %" PRId32
            " isTransactional: %s isControl: %s deleteHorizonMs: ",
            h->base_offset, h->last_offset, h->count, h->base_sequence,
            sequence(h, h->last_offset - h->base_offset), h->producer_id, h->producer_epoch,
            h->leader_epoch, truth(h->transactional), truth(h->control));
    if (h->has_delete_horizon)
        fprintf(out, "OptionalLong[%" PRId64 "]", h->base_timestamp);
    else
        fputs("OptionalLong.empty", out);
}

void krc_dump_batch(FILE *out, const struct krc_log_batch *batch)
{
    const struct krc_batch_header *h = &batch->header;
    if (h->magic == 2)
        dump_v2(out, h);
    else
        fprintf(out, "offset: %" PRId64, h->last_offset);
    fprintf(out,
            " position: %" PRId64 " %s: %" PRId64 " size: %" PRId32
            " magic: %d compresscodec: %s crc: %" PRIu32 " isvalid: true\n",
            batch->file_position, time_name(h->timestamp_type), h->max_timestamp, h->size, h->magic,
            krc_codec_name(h->codec), h->crc);
}

/* How long the UTF-8 sequence at `p` is; one that is none, as far as it might have been one. */
static size_t utf8_length(const uint8_t *p, size_t left, bool *valid)
{
    uint8_t lead = *p, low = 0x80, high = 0xbf;
    size_t more = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead == 0xe0)
        low = 0xa0; /* less would fit fewer bytes */
    else if (lead == 0xed)
        high = 0x9f; /* no surrogates */
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f; /* nothing above U+10FFFF */
    size_t n = 1;
    for (; n <= more && n < left && p[n] >= low && p[n] <= high; n++) {
        low = 0x80;
        high = 0xbf;
    }
    *valid = lead < 0x80 || (more > 0 && n == more + 1);
    return n;
}

/* As Java does: what is not UTF-8 becomes U+FFFD. */
static void put_text(FILE *out, struct krc_bytes text)
{
    bool valid;
    for (size_t i = 0, n; i < text.len; i += n) {
        n = utf8_length(text.data + i, text.len - i, &valid);
        if (valid)
            fwrite(text.data + i, 1, n, out);
        else
            fputs("\xef\xbf\xbd", out);
    }
}

static void dump_header_keys(FILE *out, struct krc_bytes rest)
{
    struct krc_header header;
    const char *between = "";
    fputs(" headerKeys: [", out);
    while (krc_header_next(&rest, &header)) {
        fputs(between, out);
        put_text(out, header.key);
        between = ",";
    }
    putc(']', out);
}

/*
 * A control record.  Key:            Value of abort and commit:
 *   0  int16  version                  0  int16  version
 *   2  int16  type                     2  int32  coordinator epoch
 */
static void dump_control(FILE *out, const struct krc_record *record)
{
    static const char *const names[] = {
        "ABORT",           "COMMIT",        "LEADER_CHANGE", "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS",
    };
    struct krc_cursor key = krc_cursor(record->key.data, record->key.len);
    struct krc_cursor value = krc_cursor(record->value.data, record->value.len);
    krc_get_i16(&key);
    int16_t type = krc_get_i16(&key);
    bool known = !key.failed && type >= 0 && (size_t)type < sizeof names / sizeof *names;
    const char *name = known ? names[type] : "UNKNOWN";
    krc_get_i16(&value);
    if (known && type <= KRC_CONTROL_COMMIT)
        fprintf(out, " endTxnMarker: %s coordinatorEpoch: %" PRId32, name, krc_get_i32(&value));
    else
        fprintf(out, " controlType: %s(%d)", name, type);
}

static void dump_bytes(FILE *out, const char *name, struct krc_bytes bytes)
{
    if (bytes.data == NULL)
        return;
    fprintf(out, " %s: ", name);
    put_text(out, bytes);
}

static long long size_of(struct krc_bytes bytes)
{
    return bytes.data == NULL ? -1 : (long long)bytes.len;
}

void krc_dump_records(FILE *out, const struct krc_batch_header *header,
                      struct krc_records *records)
{
    struct krc_record record;
    while (krc_records_next(records, &record)) {
        fprintf(out, "| offset: %" PRId64 " %s: %" PRId64 " keySize: %lld valueSize: %lld",
                record.offset, time_name(records->timestamp_type), record.timestamp_ms,
                size_of(record.key), size_of(record.value));
        if (header->magic == 2) {
            fprintf(out, " sequence: %" PRId32,
                    sequence(header, record.offset - header->base_offset));
            dump_header_keys(out, record.headers);
        }
        if (header->control) {
            dump_control(out, &record);
        } else {
            dump_bytes(out, "key", record.key);
            dump_bytes(out, "payload", record.value);
        }
        putc('\n', out);
    }
}
