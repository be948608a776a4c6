#include "txnfilter/markers.h"

#include <stdlib.h>
#include <string.h>

struct krc_marker {
    int64_t producer_id;
    int64_t offset;
    uint32_t next; /* the same producer's next marker; meaningless in its last */
    bool commit;
};

struct krc_doubt {
    int64_t from, to;
};

/* A producer's chain in the ring, packed into the map's value. */
static int64_t pack(uint32_t head, uint32_t tail)
{
    return (int64_t)((uint64_t)head << 32 | tail);
}

static uint32_t head_of(int64_t chain)
{
    return (uint32_t)((uint64_t)chain >> 32);
}

static uint32_t tail_of(int64_t chain)
{
    return (uint32_t)chain;
}

static struct krc_marker *at(const struct krc_markers *m, uint32_t i)
{
    return &m->ring[i & (m->capacity - 1)];
}

static int grow(struct krc_markers *m, krc_error *error)
{
    if (m->capacity == 1u << 31)
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "more than 2^31 control markers inside one open transaction");
    struct krc_markers larger = *m;
    larger.capacity = m->capacity ? m->capacity * 2 : 64;
    larger.ring = malloc(larger.capacity * sizeof *larger.ring);
    if (larger.ring == NULL)
        return krc_fail_nomem(error, larger.capacity * sizeof *larger.ring);
    for (uint32_t i = m->first; i != m->end; i++)
        *at(&larger, i) = *at(m, i);
    free(m->ring);
    *m = larger;
    return KRC_OK;
}

int krc_markers_add(struct krc_markers *m, int64_t producer_id, int64_t offset, bool commit,
                    krc_error *error)
{
    if (m->end - m->first == m->capacity)
        KRC_TRY(grow(m, error));
    int64_t *chain = krc_producers_get(&m->chains, producer_id);
    uint32_t head = chain == NULL ? m->end : head_of(*chain);
    if (chain != NULL)
        at(m, tail_of(*chain))->next = m->end;
    KRC_TRY(krc_producers_put(&m->chains, producer_id, pack(head, m->end), error));
    *at(m, m->end++) =
        (struct krc_marker){.producer_id = producer_id, .offset = offset, .commit = commit};
    return KRC_OK;
}

int krc_markers_doubt(struct krc_markers *m, int64_t from, int64_t to, krc_error *error)
{
    if (m->doubt_count == m->doubt_capacity) {
        size_t capacity = m->doubt_capacity ? m->doubt_capacity * 2 : 16;
        struct krc_doubt *doubts = realloc(m->doubts, capacity * sizeof *doubts);
        if (doubts == NULL)
            return krc_fail_nomem(error, capacity * sizeof *doubts);
        m->doubts = doubts;
        m->doubt_capacity = capacity;
    }
    m->doubts[m->doubt_count++] = (struct krc_doubt){from, to};
    return KRC_OK;
}

/* How many doubts end at or below `offset`. */
static size_t doubts_below(const struct krc_markers *m, int64_t offset)
{
    size_t i = 0;
    while (i < m->doubt_count && m->doubts[i].to <= offset)
        i++;
    return i;
}

/* Whether a batch at `offset` and its marker at `marker` have a doubt between them. */
static bool doubted(const struct krc_markers *m, int64_t offset, int64_t marker)
{
    size_t i = doubts_below(m, offset);
    return i < m->doubt_count && m->doubts[i].from < marker;
}

/* The producer's first marker at or after `offset`, NULL where none was added yet. */
static const struct krc_marker *find(const struct krc_markers *m, int64_t producer_id,
                                     int64_t offset)
{
    const int64_t *chain = krc_producers_get(&m->chains, producer_id);
    if (chain == NULL)
        return NULL;
    uint32_t i = head_of(*chain);
    while (i != tail_of(*chain) && at(m, i)->offset < offset)
        i = at(m, i)->next;
    return at(m, i)->offset >= offset ? at(m, i) : NULL;
}

enum krc_txn_fate krc_markers_fate(const struct krc_markers *m, int64_t producer_id, int64_t offset)
{
    const struct krc_marker *marker = find(m, producer_id, offset);
    if (doubted(m, offset, marker ? marker->offset : INT64_MAX))
        return KRC_TXN_DOUBTFUL;
    if (marker == NULL)
        return KRC_TXN_UNDECIDED;
    return marker->commit ? KRC_TXN_COMMITTED : KRC_TXN_ABORTED;
}

int64_t krc_markers_offset(const struct krc_markers *m, int64_t producer_id, int64_t offset)
{
    const struct krc_marker *marker = find(m, producer_id, offset);
    return marker != NULL ? marker->offset : -1;
}

static void forget_first(struct krc_markers *m)
{
    const struct krc_marker *marker = at(m, m->first);
    int64_t *chain = krc_producers_get(&m->chains, marker->producer_id);
    if (head_of(*chain) == tail_of(*chain))
        krc_producers_remove(&m->chains, marker->producer_id);
    else
        *chain = pack(marker->next, tail_of(*chain));
    m->first++;
}

void krc_markers_forget_below(struct krc_markers *m, int64_t offset)
{
    while (m->first != m->end && at(m, m->first)->offset < offset)
        forget_first(m);
    size_t gone = doubts_below(m, offset);
    if (gone > 0)
        memmove(m->doubts, m->doubts + gone, (m->doubt_count -= gone) * sizeof *m->doubts);
}

void krc_markers_free(struct krc_markers *m)
{
    free(m->ring);
    free(m->doubts);
    krc_producers_free(&m->chains);
    *m = (struct krc_markers){0};
}
