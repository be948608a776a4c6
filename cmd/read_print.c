/*
 * What `krc read` writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/read.h"
#include "cmd/stop.h"

int read_flush(struct reading *r, krc_error *error)
{
    struct krc_bytes bytes = krc_text_bytes(r->out);
    for (size_t written = 0; written < bytes.len;) {
        ssize_t n = write(STDOUT_FILENO, bytes.data + written, bytes.len - written);
        if (n < 0 && errno == EPIPE && cmd_output_is_closed())
            return cmd_error(error, KRC_E_INTERRUPTED, "standard output is closed");
        if (n < 0 && errno != EINTR)
            return cmd_error(error, KRC_E_IO, "cannot write to standard output: %s",
                             strerror(errno));
        written += n > 0 ? (size_t)n : 0;
    }
    krc_text_clear(r->out);
    return KRC_OK;
}

int read_print(struct reading *r, const struct krc_batch_info *batch,
               const struct krc_record *record, krc_error *error)
{
    struct read_tally *tally = &r->tallies[r->at];
    tally->records++;
    switch (r->options->output) {
    case READ_DIGEST:
        tally->digest = krc_digest_record(tally->digest, record);
        return KRC_OK;
    case READ_JSON:
        return krc_text_add_json(r->out, record, batch->timestamp_type, r->options->base64, error);
    default:
        return cmd_format_record(&r->options->format, batch, record, r->out, error);
    }
}

static int add_text(struct reading *r, const char *text, krc_error *error)
{
    return krc_text_add(r->out, text, strlen(text), error);
}

/* TOPIC PARTITION FIRST NEXT RECORDS CRC; not of partitions that were not begun. */
int read_print_digests(struct reading *r, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *topic = r->parts[i].topic;
        int32_t partition = r->parts[i].partition;
        struct krc_position p;
        char line[128];
        if (krc_position(r->krc, topic, partition, &p) < 0 || p.position < 0)
            continue;
        snprintf(line, sizeof line,
                 " %" PRId32 " %" PRId64 " %" PRId64 " %" PRId64 " %08" PRIx32 "\n", partition,
                 p.account.from, p.account.to, r->tallies[i].records, r->tallies[i].digest);
        int rc = add_text(r, topic, error);
        if (rc == KRC_OK)
            rc = add_text(r, line, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

/* Where a partition's log begins and ends, and where the reader stands; -1: not known. */
struct standing {
    const char *topic;
    int32_t partition;
    int64_t numbers[6];
};

static int look_up(struct reading *r, struct standing *standing, krc_error *error)
{
    struct krc_log_offsets log;
    struct krc_position p;
    int rc = krc_log_offsets(r->krc, standing->topic, standing->partition, &log, error);
    if (rc < 0)
        return rc;
    if (krc_position(r->krc, standing->topic, standing->partition, &p) < 0)
        return cmd_error(error, KRC_E_NOT_FOUND, "%s-%" PRId32 " is not read", standing->topic,
                         standing->partition);
    const int64_t numbers[6] = {log.log_start_offset,   p.committed,        p.acknowledged,
                                log.last_stable_offset, log.high_watermark, log.log_end_offset};
    memcpy(standing->numbers, numbers, sizeof numbers);
    return KRC_OK;
}

static int add_standing(struct reading *r, const struct standing *standing, krc_error *error)
{
    static const char *const names[6] = {"logStartOffset",   "committedOffset", "position",
                                         "lastStableOffset", "highWatermark",   "logEndOffset"};
    bool json = r->options->output == READ_JSON;
    char line[400];
    int len = snprintf(line, sizeof line, json ? ",\"partition\":%" PRId32 : " %" PRId32,
                       standing->partition);
    for (size_t i = 0; i < 6; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, standing->numbers[i]);
        if (standing->numbers[i] < 0)
            strcpy(number, json ? "null" : "-");
        len += snprintf(line + len, sizeof line - (size_t)len, json ? ",\"%s\":%s" : "%s %s",
                        json ? names[i] : "", number);
    }
    int rc = json ? add_text(r, "{\"topic\":", error) : add_text(r, standing->topic, error);
    if (rc == KRC_OK && json)
        rc = krc_text_add_json_string(r->out, standing->topic, error);
    if (rc == KRC_OK)
        rc = add_text(r, line, error);
    return rc < 0 ? rc : add_text(r, json ? "}\n" : "\n", error);
}

int read_print_offsets(struct reading *r, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        struct standing standing = {r->parts[i].topic, r->parts[i].partition, {0}};
        if (look_up(r, &standing, error) < 0) {
            r->failed = true;
            cmd_fail(error);
            continue;
        }
        int rc = add_standing(r, &standing, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}
