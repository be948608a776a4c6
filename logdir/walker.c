#include "logdir/stand.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

void krc_walker_init(struct krc_walker *walker, const struct krc_log *log, int advice)
{
    krc_stand_init(&walker->at, log, advice);
    walker->len = 0;
}

int krc_walker_open(struct krc_walker **walker, const struct krc_log *log, krc_error *error)
{
    *walker = malloc(sizeof **walker);
    if (*walker == NULL)
        return krc_fail_nomem(error, sizeof **walker);
    krc_walker_init(*walker, log, POSIX_FADV_NORMAL);
    return KRC_OK;
}

void krc_walker_close(struct krc_walker *walker)
{
    if (walker == NULL)
        return;
    krc_stand_close(&walker->at);
    free(walker);
}

/* How much to read for `want` bytes at `position`.  Where batches lie close together the whole
 * window serves the next ones too; after a jump over a large one it would be read for nothing. */
static size_t worth_reading(const struct krc_walker *walker, int64_t position, size_t want)
{
    int64_t end = walker->position + (int64_t)walker->len;
    bool jumped = walker->len > 0 && walker->segment == walker->at.segment && position > end;
    size_t least = KRC_SMALL_BATCH + KRC_BATCH_LOOK;
    if (jumped)
        return want > least ? want : least;
    return sizeof walker->window;
}

/* Gets `want` bytes at `position` into the window; `*len` is less only at the end of the file. */
static int look(struct krc_walker *walker, int64_t position, size_t want, const uint8_t **bytes,
                size_t *len, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    int64_t skip = position - walker->position;
    bool inside = walker->len > 0 && walker->segment == at->segment && skip >= 0 &&
                  skip <= (int64_t)walker->len;
    if (!inside || (walker->len - (size_t)skip < want && walker->len - (size_t)skip <
                                                             (uint64_t)(at->end - position))) {
        size_t got, most = worth_reading(walker, position, want);
        walker->len = 0;
        KRC_TRY(krc_stand_read(at, position, walker->window, most, &got, error));
        walker->segment = at->segment;
        walker->position = position;
        walker->len = got;
        skip = 0;
    }
    *bytes = walker->window + skip;
    *len = walker->len - (size_t)skip;
    return KRC_OK;
}

/* A batch is read whole where it is small, and a control batch, whose marker decides; with the
 * header that follows it. */
enum { CONTROL_MAX = KRC_WALKER_WINDOW - KRC_BATCH_LOOK };

static bool is_read_whole(const struct krc_batch_header *header)
{
    return header->size <= (header->control ? CONTROL_MAX : KRC_SMALL_BATCH);
}

/* Gets the header at the stand, and behind it as much as is to be had with it. */
static int look_here(struct krc_walker *walker, struct krc_batch_header *header,
                     const uint8_t **bytes, size_t *len, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    KRC_TRY(look(walker, at->position, KRC_SMALL_BATCH + KRC_BATCH_LOOK, bytes, len, error));
    int rc = krc_stand_parse(at, at->position, *bytes, *len, header, NULL);
    if (rc != 1 || !krc_stand_in_order(at, header) || !krc_stand_fits(at, at->position, header))
        return 0;
    if (header->size > KRC_SMALL_BATCH && is_read_whole(header))
        KRC_TRY(look(walker, at->position, (size_t)header->size + KRC_BATCH_LOOK, bytes, len,
                     error));
    return 1;
}

/* Whether only its checksum shows that a batch is good, unless what lies behind its last byte goes
 * on where its offsets end.  Else its length may be wrong, and lead to any later batch, or its last
 * offset, or the log ends here with a torn batch whose header is all there is.  (Compressed
 * wrappers do not say where they begin.) */
static bool is_doubtful(const struct krc_stand *at, const struct krc_batch_header *header,
                        const uint8_t *next, size_t len)
{
    struct krc_batch_header behind;
    int64_t position = at->position + header->size, follows = header->last_offset + 1;
    if (header->control)
        return true;
    if (len == 0)
        return krc_stand_in_last_segment(at) ||
               at->log->segments[at->segment + 1].base_offset != follows;
    return krc_stand_parse(at, position, next, len, &behind, NULL) != 1 ||
           (behind.count < 0 ? behind.base_offset < follows : behind.base_offset != follows);
}

/* 1: good as far as a walker looks, so that it sees the same log as a reader. */
static int check(struct krc_walker *walker, const uint8_t *bytes, size_t len,
                 const struct krc_batch_header *header, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    const uint8_t *next = bytes + header->size;
    bool whole = is_read_whole(header);
    if (whole && krc_batch_check_crc(bytes, header, NULL) < 0)
        return 0;
    if (whole)
        len -= (size_t)header->size;
    else
        KRC_TRY(look(walker, at->position + header->size, KRC_BATCH_LOOK, &next, &len, error));
    if (!is_doubtful(at, header, next, len))
        return 1;
    bool lies = krc_stand_lies(at, header, next, len);
    int rc = whole ? 1 : krc_stand_check_crc(at, at->position, header, error);
    return rc == 1 ? !lies : rc;
}

int krc_walker_next(struct krc_walker *walker, struct krc_log_batch *batch, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    struct krc_batch_header *header = &batch->header;
    const uint8_t *bytes;
    size_t len;
    int rc = krc_stand_settle(at, error);
    if (rc <= 0)
        return rc;
    KRC_TRY(rc = look_here(walker, header, &bytes, &len, error));
    if (rc == 1)
        KRC_TRY(rc = check(walker, bytes, len, header, error));
    if (rc != 1) {
        rc = krc_stand_judge(at, error);
        return rc == 1 ? krc_stand_changed(at, error) : rc;
    }
    batch->bytes = is_read_whole(header) ? bytes : NULL;
    batch->chunk = NULL;
    batch->segment = at->segment;
    batch->file_position = at->position;
    krc_stand_pass(at, header);
    return 1;
}

int krc_walker_resync(struct krc_walker *walker, struct krc_damage *damage, krc_error *error)
{
    return krc_stand_resync(&walker->at, damage, error);
}
