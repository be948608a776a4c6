/*
 * What lies at a position of a cluster's partition: the pieces that were fetched, batch by batch.
 */
#include <stdio.h>
#include <string.h>

#include "consumer/netsource.h"
#include "consumer/take.h"
#include "records/finder.h"

/* ---- Pieces --------------------------------------------------------------------------------- */

static void let_go_of_frame(struct krc_netsource *s)
{
    krc_frame_drop(s->frame);
    s->frame = NULL;
}

/* Walks the piece's list of aborted transactions from its begin. */
static void begin_piece(struct krc_netsource *s, const struct krc_piece *piece)
{
    _Static_assert(sizeof(struct krc_aborted) == sizeof(struct krc_fetch_aborted) &&
                       offsetof(struct krc_aborted, first_offset) ==
                           offsetof(struct krc_fetch_aborted, first_offset),
                   "the wire's list is the filter's");
    s->piece = piece->records.data;
    s->piece_len = piece->records.len;
    s->claimed = 0;
    krc_aborted_begin(&s->fates.aborted, (struct krc_aborted *)(void *)piece->aborted,
                      (size_t)piece->aborted_count);
}

static void pass(struct krc_piece *piece, int32_t size)
{
    piece->records.data += size;
    piece->records.len -= (size_t)size;
}

/* The batch is done with.  Its frame is held until the next fetch. */
static void finish_batch(struct krc_netsource *s, struct krc_piece *piece)
{
    pass(piece, s->header.size);
    s->piece = piece->records.data;
    s->bytes = NULL;
}

/* A piece that was read to its end and did not move the position is not asked for again at once. */
static void end_piece(struct krc_netsource *s, int64_t position)
{
    struct krc_remote *r = s->remote;
    if (r->pieces[0].end <= position && r->pieces[0].end == r->pieces[0].begin)
        krc_remote_wait(r);
    krc_remote_drained(r);
    s->piece = NULL;
    s->bytes = NULL;
}

/* 1: the batch that reaches the position is in hand.  0: nothing is at hand.  Batches before it are
 * passed by: they come with the one that was asked for. */
static int have_batch(struct krc_netsource *s, int64_t position, krc_error *error)
{
    struct krc_remote *r = s->remote;
    while (s->bytes == NULL && r->piece_count > 0) {
        struct krc_piece *piece = &r->pieces[0];
        if (piece->records.data != s->piece)
            begin_piece(s, piece);
        if (piece->records.len == 0 || piece->begin > position) {
            end_piece(s, position);
            continue;
        }
        int rc = krc_batch_parse(piece->records.data, piece->records.len, &s->header, error);
        if (rc == 0 || (rc > 0 && (size_t)s->header.size > piece->records.len)) {
            end_piece(s, position); /* the rest was cut off */
            continue;
        }
        if (rc > 0 && s->header.last_offset < position) {
            if (s->header.control)
                krc_aborted_marker(&s->fates.aborted, s->header.producer_id,
                                   s->header.base_offset);
            finish_batch(s, piece);
            continue;
        }
        if (rc > 0)
            rc = krc_batch_check_crc(piece->records.data, &s->header, error);
        KRC_TRY(rc);
        s->bytes = piece->records.data;
    }
    return s->bytes != NULL;
}

/* ---- What is broken ------------------------------------------------------------------------- */

void krc_net_explain(struct krc_source *source, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    const struct krc_remote *r = s->remote;
    krc_error_in(error, "%s-%d, from %s", r->topic->name, (int)r->index, krc_remote_broker(r));
}

/* What is searched behind a broken batch. */
struct rest {
    const struct krc_piece *piece;
    int64_t position; /* the offset that cannot be read */
};

static bool may_begin(void *arg, int64_t at, const uint8_t *bytes, size_t len,
                      struct krc_batch_header *header)
{
    const struct rest *rest = arg;
    return krc_batch_parse(bytes, len, header, NULL) == 1 &&
           (uint64_t)header->size <= rest->piece->records.len - (uint64_t)at &&
           header->base_offset > rest->position;
}

static int judge(void *arg, int64_t at, int64_t end, krc_error *error)
{
    (void)arg, (void)at, (void)end, (void)error;
    return 1;
}

static bool is_good_at(const struct rest *rest, size_t at, struct krc_batch_header *header)
{
    const struct krc_bytes *records = &rest->piece->records;
    return at < records->len &&
           may_begin((void *)(uintptr_t)rest, (int64_t)at, records->data + at, records->len - at,
                     header) &&
           krc_batch_check_crc(records->data + at, header, NULL) >= 0;
}

/* 1: the first good batch in the piece lies `*at` bytes behind its begin. */
static int find_good(struct rest *rest, size_t *at, struct krc_batch_header *header,
                     krc_error *error)
{
    static const struct krc_finder_ops ops = {.may_begin = may_begin, .judge = judge};
    const struct krc_bytes *records = &rest->piece->records;
    struct krc_finder search;
    krc_finder_begin(&search, 1, &ops, rest);
    int rc = krc_finder_bytes(&search, records->data + 1, records->len - 1, true, error);
    *at = rc == 1 ? (size_t)search.found : records->len;
    krc_finder_end(&search);
    return rc == 1 ? krc_batch_parse(records->data + *at, records->len - *at, header, error) : rc;
}

/* Where reading may go on, `*skip` bytes on: at the next good batch of the piece, or, where the
 * header is believable, behind the broken one.  Its length is believed where it leads to a good
 * batch.  -1: nothing tells. */
static int behind_broken(const struct krc_piece *piece, const struct krc_batch_header *broken,
                         int64_t position, int64_t *offset, size_t *skip, krc_error *error)
{
    struct rest rest = {.piece = piece, .position = position};
    struct krc_batch_header next;
    bool sized = broken->size > 0 && (size_t)broken->size <= piece->records.len;
    bool believable = sized && broken->last_offset >= position;
    bool is_last = sized && (size_t)broken->size == piece->records.len;
    int rc = sized && is_good_at(&rest, (size_t)broken->size, &next);
    *skip = rc == 1 ? (size_t)broken->size : piece->records.len;
    if (rc == 0 && !is_last)
        KRC_TRY(rc = find_good(&rest, skip, &next, error));
    if (rc == 1)
        *offset = believable && *skip == (size_t)broken->size &&
                          broken->last_offset < next.base_offset
                      ? broken->last_offset + 1
                      : next.base_offset;
    else
        *offset = believable ? broken->last_offset + 1 : -1;
    return KRC_OK;
}

/* What a broken batch claims is checksummed all the same: many that claim what is not theirs would
 * be quadratic.  Batches that were only damaged claim no more than there is. */
static bool claim_too_much(struct krc_netsource *s, const struct krc_piece *piece)
{
    enum { TIMES = 16 };
    bool sized = s->header.size > 0 && (size_t)s->header.size <= piece->records.len;
    s->claimed += sized ? (size_t)s->header.size : 0;
    return s->claimed / TIMES > s->piece_len;
}

static int skip_broken(struct krc_netsource *s, struct krc_item *item, int rc, krc_error *error)
{
    struct krc_piece *piece = &s->remote->pieces[0];
    size_t skip;
    int64_t to;
    krc_net_explain(&s->base, error);
    if (rc != KRC_E_CORRUPT || !s->base.config->skip_corrupt)
        return rc;
    if (claim_too_much(s, piece))
        return krc_fail(error, rc, "%s-%d cannot be read beyond offset %lld: the broken batches in "
                        "one answer of %s claim %zu bytes, many times its size",
                        s->remote->topic->name, (int)s->remote->index, (long long)item->from,
                        krc_remote_broker(s->remote), s->claimed);
    snprintf(item->why, sizeof item->why, "%.500s", error->message);
    KRC_TRY(behind_broken(piece, &s->header, item->from, &to, &skip, error));
    if (to < 0)
        return rc;
    krc_set_passed(item, krc_least(to, s->end), KRC_SKIPPED);
    pass(piece, (int32_t)skip);
    s->piece = piece->records.data;
    return KRC_ANSWERED;
}

/* ---- What lies at a position ---------------------------------------------------------------- */

/* Kafka keeps no hole in a log that is not compacted. */
int krc_net_gap(struct krc_source *source, struct krc_item *item, int64_t to, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    struct krc_topic *topic = s->remote->topic;
    item->type = KRC_ITEM_WAIT;
    if (topic->cleanup == KRC_CLEANUP_UNKNOWN && !s->compacted) {
        int rc = krc_net_question(s, (struct krc_question){.type = KRC_ASKS_CLEANUP}, error);
        if (rc <= 0)
            return rc;
    }
    s->told_refused |= topic->cleanup == KRC_CLEANUP_REFUSED && !s->compacted;
    krc_set_passed(item, to,
                   topic->cleanup == KRC_CLEANUP_DELETE && !s->compacted ? KRC_LOST : KRC_ABSENT);
    if (item->fate == KRC_LOST)
        snprintf(item->why, sizeof item->why,
                 "offsets %lld to %lld are in no batch that the broker has, and the topic is not "
                 "compacted",
                 (long long)item->from, (long long)to - 1);
    return KRC_ANSWERED;
}

int krc_net_fate(struct krc_source *source, const struct krc_batch_header *header,
                enum krc_txn_fate *fate, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    return krc_net_fates_of(&s->fates, s->remote, header, fate, error);
}

/* Nothing at or beyond the last stable offset is delivered, whatever a broker sends. */
static bool is_unstable(const struct krc_netsource *s)
{
    int64_t stable = s->remote->pieces[0].last_stable_offset;
    return krc_net_committed(s) && stable >= 0 && s->header.base_offset >= stable;
}

/* The end of what is visible, as the newest answer has it; some brokers do not tell (2.0.0). */
static int find_visible_end(struct krc_netsource *s, int64_t *end, krc_error *error)
{
    struct krc_remote *r = s->remote;
    int64_t *known = krc_net_committed(s) ? &r->last_stable_offset : &r->high_watermark;
    if (*known < 0) {
        int rc = krc_net_offset(s, KRC_TIMESTAMP_LATEST, krc_net_committed(s), known, error);
        if (rc <= 0)
            return rc;
    }
    *end = *known;
    return KRC_ANSWERED;
}

/* The broker found nothing at the position, and more is visible behind it.  Where the log is
 * compacted and nothing else crowded it out, that is a hole which reaches to the end. */
static int pass_hole(struct krc_netsource *s, struct krc_item *item, krc_error *error)
{
    struct krc_topic *topic = s->remote->topic;
    int64_t end = s->remote->empty_end;
    if (!s->remote->empty_alone || end <= item->from)
        return KRC_NOT_YET;
    if (topic->cleanup == KRC_CLEANUP_UNKNOWN && !s->compacted) {
        int rc = krc_net_question(s, (struct krc_question){.type = KRC_ASKS_CLEANUP}, error);
        if (rc <= 0)
            return rc;
    }
    if (!s->compacted && topic->cleanup != KRC_CLEANUP_COMPACT)
        return KRC_NOT_YET;
    krc_set_passed(item, krc_least(end, s->end), KRC_ABSENT);
    return KRC_ANSWERED;
}

/* Nothing is at hand. */
static int wait(struct krc_netsource *s, struct krc_item *item, krc_error *error)
{
    struct krc_remote *r = s->remote;
    int64_t end;
    item->type = KRC_ITEM_WAIT;
    krc_remote_want(r, item->from);
    if (r->rc < 0)
        return krc_remote_explain(r, error);
    if (r->out_of_range) {
        item->type = KRC_ITEM_OUT_OF_RANGE;
        return KRC_ANSWERED;
    }
    bool is_empty = r->empty_at == item->from;
    s->fetched = s->fetched || is_empty;
    if (!s->fetched || s->caught_up_at == item->from)
        return KRC_NOT_YET;
    if (item->from >= s->end) {
        item->type = KRC_ITEM_END;
        return KRC_ANSWERED;
    }
    int rc = find_visible_end(s, &end, error);
    if (rc <= 0)
        return rc;
    if (item->from < end)
        return is_empty ? pass_hole(s, item, error) : KRC_NOT_YET;
    s->caught_up_at = item->from;
    item->type = KRC_ITEM_CAUGHT_UP;
    return KRC_ANSWERED;
}

/* A marker that was taken as such. */
static void note_marker(struct krc_netsource *s, struct krc_item *item)
{
    int type;
    if (item->type == KRC_ITEM_PASSED && item->fate == KRC_CONTROL && s->header.transactional &&
        krc_batch_control_type(s->bytes, &s->header, &type, NULL) == KRC_OK && type <= 1)
        krc_net_fates_marker(&s->fates, item, type == 1);
}

static int take(struct krc_netsource *s, struct krc_buffer *scratch, struct krc_item *item,
                krc_error *error)
{
    struct krc_piece *piece = &s->remote->pieces[0];
    s->fetched = true;
    item->type = KRC_ITEM_END;
    if (item->from >= s->end)
        return KRC_ANSWERED;
    if (is_unstable(s)) {
        end_piece(s, item->from);
        item->type = KRC_ITEM_WAIT;
        return KRC_NOT_YET;
    }
    bool awaits = false;
    if (krc_net_committed(s))
        KRC_TRY(krc_net_fates_await(&s->fates, s->remote, &s->header, &awaits, error));
    if (awaits) {
        item->type = KRC_ITEM_WAIT;
        return KRC_NOT_YET;
    }
    struct krc_batch_view view = {
        .header = s->header, .bytes = s->bytes, .chunk = &piece->frame->chunk};
    bool taken = false;
    int rc = krc_take_batch(&s->base, &view, s->end, scratch, item, &taken, error);
    if (!taken)
        return rc;
    s->frame = piece->frame;
    krc_frame_hold(s->frame);
    s->compacted = s->compacted || krc_batch_shows_compaction(&view.header);
    note_marker(s, item);
    finish_batch(s, piece);
    if (piece->records.len == 0)
        end_piece(s, item->to);
    return rc;
}

/* The remote may have given up what was at hand. */
static void heed_changes(struct krc_netsource *s)
{
    if (s->turn == s->remote->turn)
        return;
    s->piece = s->bytes = NULL;
    s->turn = s->remote->turn;
    krc_net_fates_discard(&s->fates);
}

/* The end that was asked for is reached; a position behind it may be out of range, which only a
 * fetch shows. */
static bool is_at_end(const struct krc_netsource *s, int64_t position)
{
    return position == s->end || (position > s->end && s->fetched) || s->base.records_left <= 0;
}

int krc_net_fetch(struct krc_source *source, int64_t position, bool settled,
                 struct krc_buffer *scratch, struct krc_item *item, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    (void)settled; /* the broker decides */
    *item = (struct krc_item){
        .type = KRC_ITEM_WAIT, .from = position, .to = position, .epoch = -1};
    let_go_of_frame(s);
    heed_changes(s);
    if (s->end < 0) {
        int rc = krc_net_end(s, error);
        if (rc <= 0)
            return rc;
    }
    if (is_at_end(s, position)) {
        krc_remote_want(s->remote, -1);
        item->type = KRC_ITEM_END;
        return KRC_ANSWERED;
    }
    int rc = have_batch(s, position, error);
    if (rc < 0)
        return skip_broken(s, item, rc, error);
    return rc == 0 ? wait(s, item, error) : take(s, scratch, item, error);
}
