#include "tests/support/world.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct world world;

void world_open(void)
{
    memset(&world, 0, sizeof world);
    world.node_count = 2;
    world.coordinator = 1;
    world.has_sessions = true;
    world.next_session_id = 1;
    world.missing_stable = INT64_MIN;
    for (int node = 1; node < WORLD_NODES; node++)
        world.nodes[node].is_up = node <= world.node_count;
    for (int api = 0; api < KRC_API_COUNT; api++)
        world_versions((enum krc_api_name)api, krc_apis[api].lowest, krc_apis[api].highest);
}

void world_close(void)
{
    for (int t = 0; t < WORLD_TOPICS; t++)
        for (int p = 0; p < WORLD_PARTITIONS; p++)
            krc_buffer_free(&world.topics[t].partitions[p].log);
    krc_arena_free(&world.arena);
}

void world_versions(enum krc_api_name api, int16_t lowest, int16_t highest)
{
    for (int node = 1; node < WORLD_NODES; node++)
        world.nodes[node].versions[api] =
            (struct krc_api_range){krc_apis[api].key, lowest, highest};
}

const char *world_host(int32_t node)
{
    static const char *const hosts[WORLD_NODES] = {"", "n1", "n2", "n3"};
    return node >= 0 && node < WORLD_NODES ? hosts[node] : "";
}

/* ---- Topics --------------------------------------------------------------------------------- */

static struct krc_uuid next_id(void)
{
    static uint8_t last;
    return (struct krc_uuid){{0xAB, ++last}};
}

static void make_partition(struct world_partition *p)
{
    struct krc_buffer log = p->log;
    log.len = 0;
    *p = (struct world_partition){.log = log,
                                  .high = -1,
                                  .leader = 1,
                                  .preferred = -1,
                                  .follower_end = -1,
                                  .committed = -1,
                                  .committed_epoch = -1};
}

struct world_topic *world_topic(const char *name, int32_t partitions)
{
    struct world_topic *topic = &world.topics[world.topic_count++];
    snprintf(topic->name, sizeof topic->name, "%s", name);
    topic->id = next_id();
    topic->cleanup = "delete";
    topic->count = partitions;
    for (int i = 0; i < WORLD_PARTITIONS; i++)
        make_partition(&topic->partitions[i]);
    return topic;
}

void world_recreate(struct world_topic *topic)
{
    topic->id = next_id();
    for (int i = 0; i < WORLD_PARTITIONS; i++)
        make_partition(&topic->partitions[i]);
}

struct world_topic *world_find(struct krc_bytes name)
{
    for (int t = 0; t < world.topic_count; t++)
        if (name.data != NULL && strlen(world.topics[t].name) == name.len &&
            memcmp(world.topics[t].name, name.data, name.len) == 0)
            return &world.topics[t];
    return NULL;
}

struct world_topic *world_find_id(const struct krc_uuid *id)
{
    for (int t = 0; t < world.topic_count; t++)
        if (krc_uuid_equal(&world.topics[t].id, id))
            return &world.topics[t];
    return NULL;
}

/* ---- Faults --------------------------------------------------------------------------------- */

void world_fail(enum krc_api_name api, int32_t partition, int16_t error_code, int times)
{
    world.faults[world.fault_count++ % 8] = (struct world_fault){
        .api = api, .partition = partition, .error_code = error_code, .times = times, .every = 1};
}

void world_fail_for_ever(enum krc_api_name api, int32_t partition, int16_t error_code, int every)
{
    world_fail(api, partition, error_code, INT_MAX);
    world.faults[(world.fault_count - 1) % 8].every = every;
}

int16_t world_fault(enum krc_api_name api, int32_t partition)
{
    for (int i = 0; i < 8; i++) {
        struct world_fault *f = &world.faults[i];
        if (f->api != api || f->partition != partition || f->times == 0 ||
            ++f->met % f->every != 0)
            continue;
        f->times--;
        return f->error_code;
    }
    return 0;
}

/* ---- Logs ----------------------------------------------------------------------------------- */

/* Calls `each` for every batch of the log, in order. */
static void walk(const struct world_partition *p, void *arg,
                 void (*each)(void *arg, const struct krc_batch_header *h, const uint8_t *bytes))
{
    struct krc_batch_header h;
    for (size_t at = 0; at < p->log.len; at += (size_t)h.size) {
        ck_assert_int_eq(krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL), 1);
        each(arg, &h, p->log.data + at);
    }
}

int64_t world_high(const struct world_partition *p)
{
    return p->high >= 0 ? p->high : p->end;
}

/* Transactions as the log shows them. */
struct txns {
    struct txn {
        int64_t producer, first, last; /* last: the marker's offset, -1: open */
        bool is_aborted;
    } list[64];
    int count;
};

static void note_txn(void *arg, const struct krc_batch_header *h, const uint8_t *bytes)
{
    struct txns *txns = arg;
    struct txn *open = NULL;
    int type;
    if (!h->transactional)
        return;
    for (int i = 0; i < txns->count; i++)
        if (txns->list[i].producer == h->producer_id && txns->list[i].last < 0)
            open = &txns->list[i];
    if (!h->control && open == NULL) {
        txns->list[txns->count++] = (struct txn){h->producer_id, h->base_offset, -1, false};
    } else if (h->control && open != NULL) {
        ck_assert_int_eq(krc_batch_control_type(bytes, h, &type, NULL), KRC_OK);
        open->last = h->last_offset;
        open->is_aborted = type == KRC_CONTROL_ABORT;
    }
}

int64_t world_stable(const struct world_partition *p)
{
    struct txns txns = {.count = 0};
    walk(p, &txns, note_txn);
    for (int i = 0; i < txns.count; i++)
        if (txns.list[i].last < 0 && txns.list[i].first < world_high(p))
            return txns.list[i].first;
    return world_high(p);
}

int32_t world_aborted(const struct world_partition *p, int64_t from, int64_t to,
                      struct krc_fetch_aborted **list)
{
    struct txns txns = {.count = 0};
    int32_t count = 0;
    walk(p, &txns, note_txn);
    *list = krc_arena_take(&world.arena, (size_t)(txns.count + 1) * sizeof **list);
    for (int i = 0; i < txns.count; i++)
        if (txns.list[i].is_aborted && txns.list[i].last >= from && txns.list[i].first < to)
            (*list)[count++] =
                (struct krc_fetch_aborted){txns.list[i].producer, txns.list[i].first};
    return count;
}

/* The epoch cache: where each epoch began.  That of the leader is there before its first batch. */
struct epochs {
    struct {
        int32_t epoch;
        int64_t start;
    } list[64];
    int count;
};

static void note_epoch(void *arg, const struct krc_batch_header *h, const uint8_t *bytes)
{
    struct epochs *e = arg;
    (void)bytes;
    if (e->count == 0 || e->list[e->count - 1].epoch != h->leader_epoch) {
        e->list[e->count].epoch = h->leader_epoch;
        e->list[e->count++].start = h->base_offset;
    }
}

void world_epoch_end(const struct world_partition *p, int32_t epoch, int32_t *found, int64_t *end)
{
    struct epochs e = {.count = 0};
    walk(p, &e, note_epoch);
    note_epoch(&e, &(struct krc_batch_header){.leader_epoch = p->epoch, .base_offset = p->end},
               NULL);
    *found = -1;
    *end = -1;
    if (epoch == p->epoch) {
        *found = epoch;
        *end = p->end;
    } else if (epoch < p->epoch && epoch < e.list[0].epoch) {
        *found = epoch;
        *end = e.list[0].start;
    }
    for (int i = 0; i + 1 < e.count; i++)
        if (epoch < p->epoch && e.list[i].epoch <= epoch) {
            *found = e.list[i].epoch;
            *end = e.list[i + 1].start;
        }
}

void world_lead(struct world_partition *p, int32_t node)
{
    p->leader = node;
    p->epoch++;
}

void world_truncate(struct world_partition *p, int64_t end)
{
    struct krc_batch_header h;
    size_t at = 0;
    for (; at < p->log.len; at += (size_t)h.size) {
        ck_assert_int_eq(krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL), 1);
        if (h.base_offset >= end)
            break;
    }
    p->log.len = at;
    p->end = end;
}

void world_delete(struct world_partition *p, int64_t start)
{
    struct krc_batch_header h;
    while (p->log.len > 0 && krc_batch_parse(p->log.data, p->log.len, &h, NULL) == 1 &&
           h.last_offset < start) {
        p->log.len -= (size_t)h.size;
        memmove(p->log.data, p->log.data + h.size, p->log.len);
    }
    p->start = start;
    if (p->end < start)
        p->end = start;
}

/* ---- Batches -------------------------------------------------------------------------------- */

void put_bytes(struct world_partition *p, const struct krc_buffer *batch, int64_t end)
{
    build_append(&p->log, batch->data, batch->len);
    p->end = end;
}

void put(struct world_partition *p, struct build_batch batch, int32_t count)
{
    batch.base_offset = p->end;
    batch.leader_epoch = p->epoch;
    build_plain_batch(&p->log, &batch, count);
    p->end += batch.last_delta >= count ? batch.last_delta + 1 : count;
}

void put_plain(struct world_partition *p, int32_t count)
{
    put(p, (struct build_batch){0}, count);
}

void put_txn(struct world_partition *p, int64_t producer, int32_t count)
{
    put(p, (struct build_batch){.producer_id = producer, .transactional = true}, count);
}

/* Markers are of epoch 0 as they are built; the coordinator writes the leader's. */
static void put_marker(struct world_partition *p, int64_t producer, int type)
{
    size_t at = p->log.len;
    build_marker(&p->log, p->end, producer, 0, type);
    krc_put_be32(p->log.data + at + KRC_BATCH_PREFIX, (uint32_t)p->epoch);
    p->end++;
}

void put_commit(struct world_partition *p, int64_t producer)
{
    put_marker(p, producer, KRC_CONTROL_COMMIT);
}

void put_abort(struct world_partition *p, int64_t producer)
{
    put_marker(p, producer, KRC_CONTROL_ABORT);
}

void put_emptied(struct world_partition *p, int32_t count)
{
    build_batch(&p->log, &(struct build_batch){.base_offset = p->end,
                                               .leader_epoch = p->epoch,
                                               .last_delta = count - 1,
                                               .base_timestamp = -1});
    p->end += count;
}

void put_hole(struct world_partition *p, int32_t count)
{
    p->end += count;
}
