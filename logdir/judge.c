/*
 * What lies where no good batch lies: a torn tail, or corruption.
 *
 * In the last segment these end the log:
 *   - zeros to the end of the file: it was preallocated, or extended in a crash;
 *   - the beginning of a batch, cut by the end of the file: a copy of a file that was being
 *     written, or a crash.  But a good batch behind it shows that the length lies: corrupt;
 *   - the beginning of a batch, with zeros in place of the rest and on to the end of the file.
 */
#include "logdir/stand.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    ZERO_RUN = 64,   /* as many zeros at the end of the file are no data */
    NATURAL_END = 8, /* with fewer zeros a batch may well end: a commit marker's last 7 bytes are */
};

/* What was found at the stand. */
struct finding {
    struct krc_batch_header header;
    int parsed;    /* what krc_batch_parse returned */
    bool in_order; /* its offsets may come next */
    bool whole;    /* a header in order, and as many bytes as it says */
    bool lies;     /* about its offsets */
    krc_error why;
};

/* Finds where the zeros begin that the file ends with; once, for a file with many broken places. */
static int find_data_end(struct krc_stand *at, int64_t *data_end, krc_error *error)
{
    uint8_t piece[16 << 10];
    bool is_known = at->data_end >= 0;
    int64_t most = is_known ? ZERO_RUN : (int64_t)sizeof piece;
    int64_t end = is_known ? at->data_end : krc_stand_last_hole(at, at->position);
    for (; end > at->position; most = sizeof piece) {
        int64_t n = end - at->position;
        if (n > most)
            n = most;
        size_t got;
        KRC_TRY(krc_stand_read(at, end - n, piece, (size_t)n, &got, error));
        while (got > 0 && piece[got - 1] == 0)
            got--;
        end -= n - (int64_t)got;
        if (got > 0)
            break;
    }
    at->data_end = end;
    *data_end = end > at->position ? end : at->position;
    return KRC_OK;
}

static int end_log(struct krc_stand *at, const char *what)
{
    char path[PATH_MAX];
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    snprintf(at->tail, sizeof at->tail,
             "the log ends at byte %lld of its last segment: the %lld bytes behind it are %s: "
             "%.256s", (long long)at->position, (long long)(at->end - at->position), what, path);
    at->ended = true;
    return 0;
}

/* 0: a torn tail, 1: none. */
static int judge_tail(struct krc_stand *at, const struct finding *found, krc_error *error)
{
    int64_t data_end;
    KRC_TRY(find_data_end(at, &data_end, error));
    if (data_end == at->position)
        return end_log(at, "zeros, as in a preallocated file");

    if (found->parsed == 0 || (found->in_order && !found->whole)) {
        struct krc_batch_header header;
        int64_t behind;
        int rc = krc_stand_scan(at, at->position + 1, &behind, &header, error);
        if (rc != 0)
            return rc;
        return end_log(at, "a torn batch, as in a copy of a running broker's file");
    }
    if (at->end - data_end < ZERO_RUN)
        return 1;
    bool header_torn = found->parsed < 0 && data_end - at->position < KRC_BATCH_LOOK;
    bool payload_torn =
        found->whole && data_end + NATURAL_END <= at->position + found->header.size;
    if (header_torn || payload_torn)
        return end_log(at, "a torn batch and zeros, as after a crash");
    return 1;
}

/* Completes the error: which offsets are concerned, and where that is. */
static int corrupt(const struct krc_stand *at, const struct finding *found, krc_error *error)
{
    const struct krc_log *log = at->log;
    char path[PATH_MAX], offsets[80];
    krc_log_path(log, at->segment, ".log", path, sizeof path);
    int64_t first = at->last_offset + 1;
    if (found->whole && !found->lies) {
        if (found->header.count >= 0) /* others do not say where they begin */
            first = found->header.base_offset;
        snprintf(offsets, sizeof offsets, "at offsets %lld to %lld", (long long)first,
                 (long long)found->header.last_offset);
    } else if (krc_stand_in_last_segment(at)) {
        snprintf(offsets, sizeof offsets, "at offset %lld on", (long long)first);
    } else if (first < log->segments[at->segment + 1].base_offset) {
        snprintf(offsets, sizeof offsets, "at offsets %lld to %lld at most", (long long)first,
                 (long long)log->segments[at->segment + 1].base_offset - 1);
    } else {
        snprintf(offsets, sizeof offsets, "between offsets %lld and %lld", (long long)first - 1,
                 (long long)first);
    }
    krc_fail(error, KRC_E_CORRUPT, "%s-%d is corrupt %s, byte %lld of %s: %s", log->place->topic,
             (int)log->place->partition, offsets, (long long)at->position, path,
             found->why.message);
    krc_error_at(error, log->place->topic, log->place->partition, first, at->position);
    return KRC_E_CORRUPT;
}

/* Says why a batch's offsets may not come next. */
static void explain_order(const struct krc_stand *at, const struct krc_batch_header *header,
                          krc_error *why)
{
    const struct krc_segment *segment = &at->log->segments[at->segment];
    char because[80];
    if (header->base_offset <= at->last_offset)
        snprintf(because, sizeof because, "cannot follow offset %lld in this segment",
                 (long long)at->last_offset);
    else if (krc_stand_in_last_segment(at))
        snprintf(because, sizeof because, "reaches 2^31 or more beyond its segment's offset %lld",
                 (long long)segment->base_offset);
    else
        snprintf(because, sizeof because, "reaches offset %lld, where the next segment begins",
                 (long long)segment[1].base_offset);
    krc_fail(why, KRC_E_CORRUPT, "a batch of offsets %lld to %lld %s",
             (long long)header->base_offset, (long long)header->last_offset, because);
}

static int look(struct krc_stand *at, struct finding *found, krc_error *error)
{
    uint8_t bytes[KRC_BATCH_LOOK];
    size_t got;
    krc_error *why = &found->why;
    struct krc_batch_header *header = &found->header;
    KRC_TRY(krc_stand_read(at, at->position, bytes, sizeof bytes, &got, error));
    found->parsed = krc_stand_parse(at, at->position, bytes, got, header, why);
    if (found->parsed < 0)
        return 0;
    if (found->parsed == 0) {
        krc_fail(why, KRC_E_CORRUPT, "the file ends after %zu bytes of a batch's header", got);
        return 0;
    }
    found->in_order = krc_stand_in_order(at, header);
    if (!found->in_order) {
        explain_order(at, header, why);
        return 0;
    }
    found->whole = krc_stand_fits(at, at->position, header);
    if (!found->whole) {
        krc_fail(why, KRC_E_CORRUPT, "the file ends after %lld of a batch's %d bytes",
                 (long long)(at->end - at->position), (int)header->size);
        return 0;
    }
    krc_fail(why, KRC_E_CORRUPT, "the batch's checksum 0x%08x is not that of its bytes",
             (unsigned)header->crc);
    int rc = krc_stand_check_crc(at, at->position, header, error);
    if (rc != 1)
        return rc;
    krc_fail(why, KRC_E_CORRUPT,
             "its base offset, which no checksum covers, is wrong: it does not follow on, and the "
             "next batch, or the checkpointed high watermark, shows that it should");
    rc = krc_stand_look_behind(at, header, error);
    found->lies = rc == 0;
    return rc;
}

int krc_stand_judge(struct krc_stand *at, krc_error *error)
{
    struct finding found = {0};
    int rc = look(at, &found, error);
    if (rc != 0)
        return rc;
    if (krc_stand_in_last_segment(at)) {
        rc = judge_tail(at, &found, error);
        if (rc <= 0)
            return rc;
    }
    return corrupt(at, &found, error);
}
