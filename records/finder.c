#include "records/finder.h"

#include <stdlib.h>

/* What may be the begin of a batch. */
struct krc_finder_place {
    int64_t position;
    int64_t end;
    int64_t from;    /* the first byte that its checksum covers */
    uint32_t before; /* the checksum of what comes before that */
    uint32_t crc;    /* as it should be */
    bool has_ended; /* it is in no heap any more */
    bool is_void;   /* its bytes are a batch's content, or lie after a good one... */
    uint64_t void_from; /* ...as do those of all places after that number, up to this one */
};

enum { CRC_32C, CRC_32 };

void krc_finder_begin(struct krc_finder *s, int64_t position, const struct krc_finder_ops *ops,
                      void *arg)
{
    *s = (struct krc_finder){
        .ops = ops, .arg = arg, .next = position, .found = -1, .none_before = position};
    s->sums[CRC_32C].add = krc_crc32c;
    s->sums[CRC_32C].fill = krc_crc32c_powers;
    s->sums[CRC_32].add = krc_crc32;
    s->sums[CRC_32].fill = krc_crc32_powers;
}

void krc_finder_end(struct krc_finder *s)
{
    for (int i = 0; i < KRC_FINDER_SUMS; i++)
        free(s->sums[i].ends);
    free(s->places);
}

/* ---- Places --------------------------------------------------------------------------------- */

static struct krc_finder_place *place(const struct krc_finder *s, uint64_t number)
{
    return &s->places[number & (s->capacity - 1)];
}

static bool ends_before(const struct krc_finder *s, uint64_t a, uint64_t b)
{
    return place(s, a)->end < place(s, b)->end;
}

static void push(const struct krc_finder *s, struct krc_finder_sum *sum, uint64_t number)
{
    size_t at = sum->count++;
    for (; at > 0 && ends_before(s, number, sum->ends[(at - 1) / 2]); at = (at - 1) / 2)
        sum->ends[at] = sum->ends[(at - 1) / 2];
    sum->ends[at] = number;
}

/* Takes the one that ends first off. */
static uint64_t pop(const struct krc_finder *s, struct krc_finder_sum *sum)
{
    uint64_t first = sum->ends[0], last = sum->ends[--sum->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < sum->count; at = child) {
        if (child + 1 < sum->count && ends_before(s, sum->ends[child + 1], sum->ends[child]))
            child++;
        if (!ends_before(s, sum->ends[child], last))
            break;
        sum->ends[at] = sum->ends[child];
    }
    sum->ends[at] = last;
    return first;
}

static int too_many(const struct krc_finder *s, krc_error *error)
{
    return krc_fail(error, KRC_E_CORRUPT, "the next good batch cannot be found: %d places before "
                    "byte %lld look like the begin of one", KRC_FINDER_PLACES, (long long)s->next);
}

static int grow(struct krc_finder *s, krc_error *error)
{
    size_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
    if (capacity > KRC_FINDER_PLACES)
        return too_many(s, error);
    struct krc_finder_place *places = malloc(capacity * sizeof *places);
    if (places == NULL)
        return krc_fail_nomem(error, capacity * sizeof *places);
    for (uint64_t i = s->first; i < s->end; i++)
        places[i & (capacity - 1)] = *place(s, i);
    free(s->places);
    s->places = places;
    s->capacity = capacity;
    return KRC_OK;
}

static int grow_heap(struct krc_finder_sum *sum, krc_error *error)
{
    size_t capacity = sum->capacity == 0 ? 64 : 2 * sum->capacity;
    uint64_t *ends = realloc(sum->ends, capacity * sizeof *ends);
    if (ends == NULL)
        return krc_fail_nomem(error, capacity * sizeof *ends);
    sum->ends = ends;
    sum->capacity = capacity;
    return KRC_OK;
}

/* ---- Sums ----------------------------------------------------------------------------------- */

/* What is at hand: bytes from a position on, or zeros. */
struct stretch {
    int64_t position;
    const uint8_t *bytes; /* NULL: zeros */
};

static void add(struct krc_finder *s, struct krc_finder_sum *sum, const struct stretch *at,
                int64_t until)
{
    size_t len = (size_t)(until - sum->position);
    if (at->bytes == NULL) {
        sum->crc = krc_crc_of_zeros(&sum->powers, sum->crc, len);
    } else {
        sum->crc = sum->add(sum->crc, at->bytes + (sum->position - at->position), len);
        s->checksummed += len;
    }
    sum->position = until;
}

/* Places after that one are of no interest any more. */
static void make_void(struct krc_finder *s, uint64_t number)
{
    for (uint64_t i = s->end - 1, before; i > number; i = before) {
        struct krc_finder_place *p = place(s, i);
        before = p->is_void ? p->void_from : i - 1;
        s->open -= !p->is_void && !p->has_ended;
        p->is_void = true;
        p->void_from = number;
    }
}

/* A place's end is reached: is it a batch?  Of one that is not good, the bytes are content all the
 * same. */
static int close_place(struct krc_finder *s, struct krc_finder_sum *sum, uint64_t number,
                       krc_error *error)
{
    struct krc_finder_place *p = place(s, number);
    p->has_ended = true;
    if (p->is_void)
        return KRC_OK;
    s->open--;
    if (krc_crc_of_rest(&sum->powers, p->before, sum->crc, (uint64_t)(p->end - p->from)) != p->crc)
        return KRC_OK;
    int rc = s->ops->judge(s->arg, p->position, p->end, error);
    KRC_TRY(rc);
    s->found = rc == 1 ? p->position : -1; /* one that was found inside of it is content */
    s->none_before = p->end;
    make_void(s, number);
    return KRC_OK;
}

/* Brings a sum up to a byte, and closes the places that end on the way. */
static int sum_up(struct krc_finder *s, struct krc_finder_sum *sum, const struct stretch *at,
                  int64_t until, krc_error *error)
{
    while (sum->count > 0 && place(s, sum->ends[0])->end <= until) {
        uint64_t first = pop(s, sum);
        add(s, sum, at, place(s, first)->end);
        KRC_TRY(close_place(s, sum, first, error));
    }
    if (sum->count > 0 && until > sum->position)
        add(s, sum, at, until);
    return KRC_OK;
}

static int sum_all_up(struct krc_finder *s, const struct stretch *at, int64_t until,
                      krc_error *error)
{
    for (int i = 0; i < KRC_FINDER_SUMS; i++)
        KRC_TRY(sum_up(s, &s->sums[i], at, until, error));
    return KRC_OK;
}

/* ---- Looking -------------------------------------------------------------------------------- */

static int make_room(struct krc_finder *s, struct krc_finder_sum *sum, krc_error *error)
{
    while (s->first < s->end && place(s, s->first)->has_ended)
        s->first++;
    if (s->end - s->first == s->capacity)
        KRC_TRY(grow(s, error));
    if (sum->count == sum->capacity)
        KRC_TRY(grow_heap(sum, error));
    return KRC_OK;
}

/* What ends up to here may be a batch, whose content this is. */
static int open_place(struct krc_finder *s, const struct krc_batch_header *header,
                      const struct stretch *at, int64_t position, krc_error *error)
{
    struct krc_finder_sum *sum = &s->sums[header->magic == 2 ? CRC_32C : CRC_32];
    int64_t from = position + krc_batch_crc_from(header, at->bytes + (position - at->position));
    KRC_TRY(sum_all_up(s, at, position, error));
    KRC_TRY(sum_up(s, sum, at, from, error));
    if (s->found >= 0 || position < s->none_before)
        return KRC_OK;
    if (sum->powers.polynomial == 0)
        sum->fill(&sum->powers);
    if (sum->count == 0) {
        sum->position = from;
        sum->crc = 0;
    }
    KRC_TRY(make_room(s, sum, error));
    *place(s, s->end) = (struct krc_finder_place){.position = position,
                                                  .end = position + header->size,
                                                  .from = from,
                                                  .before = sum->crc,
                                                  .crc = header->crc};
    push(s, sum, s->end++);
    s->open++;
    return KRC_OK;
}

/* Whether nothing that is open may be a batch before the one that was found. */
static bool is_over(const struct krc_finder *s)
{
    return s->found >= 0 && s->open == 0;
}

/* Goes on to the next end of a place, but to `until` at most. */
static int go_to_end(struct krc_finder *s, const struct stretch *at, int64_t until,
                     int64_t *position, krc_error *error)
{
    for (int i = 0; i < KRC_FINDER_SUMS; i++) {
        const struct krc_finder_sum *sum = &s->sums[i];
        if (sum->count > 0 && place(s, sum->ends[0])->end < until)
            until = place(s, sum->ends[0])->end;
    }
    *position = until;
    return sum_all_up(s, at, until, error);
}

/* Looks at each byte up to `until`; once something is found, only at what may be a batch before. */
static int look(struct krc_finder *s, const struct stretch *at, int64_t end, int64_t until,
                krc_error *error)
{
    struct krc_batch_header header;
    for (int64_t position = at->position; position < until && !is_over(s);) {
        if (s->found >= 0) {
            KRC_TRY(go_to_end(s, at, until, &position, error));
            continue;
        }
        const uint8_t *bytes = at->bytes + (position - at->position);
        if (position >= s->none_before &&
            s->ops->may_begin(s->arg, position, bytes, (size_t)(end - position), &header))
            KRC_TRY(open_place(s, &header, at, position, error));
        position++;
    }
    return KRC_OK;
}

static int finish(struct krc_finder *s, const struct stretch *at, int64_t until, krc_error *error)
{
    KRC_TRY(sum_all_up(s, at, until, error));
    s->next = until;
    return is_over(s);
}

int krc_finder_bytes(struct krc_finder *s, const uint8_t *bytes, size_t len, bool is_last,
                     krc_error *error)
{
    struct stretch at = {s->next, bytes};
    int64_t end = at.position + (int64_t)len;
    int64_t until = is_last || len < KRC_BATCH_LOOK ? end : end - KRC_BATCH_LOOK + 1;
    KRC_TRY(look(s, &at, end, until, error));
    return is_over(s) ? 1 : finish(s, &at, until, error);
}

int krc_finder_zeros(struct krc_finder *s, int64_t len, krc_error *error)
{
    struct stretch at = {s->next, NULL};
    return finish(s, &at, s->next + len, error);
}
