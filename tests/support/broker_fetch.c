/*
 * Fetch, with sessions (KIP-227), as a broker answers it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/coordinator.h"

static const struct krc_fetch_request *body_of(const struct broker_request *r)
{
    return r->frame.body;
}

static bool is_same_part(const struct world_part *a, const struct world_part *b)
{
    return a->index == b->index && krc_uuid_equal(&a->id, &b->id) && strcmp(a->name, b->name) == 0;
}

/* Adds it, or replaces what is known of it. */
static void set_part(struct world_part *parts, int *count, const struct world_part *part)
{
    int i = 0;
    while (i < *count && !is_same_part(&parts[i], part))
        i++;
    ck_assert_int_lt(i, WORLD_PARTS);
    parts[i] = *part;
    *count += i == *count;
}

static void remove_part(struct world_part *parts, int *count, const struct world_part *part)
{
    for (int i = 0; i < *count; i++)
        if (is_same_part(&parts[i], part)) {
            memmove(&parts[i], &parts[i + 1], (size_t)(--*count - i) * sizeof *parts);
            return;
        }
}

static struct world_part name_part(const struct broker_request *r, struct krc_bytes name,
                                   const struct krc_uuid *id, int32_t index)
{
    struct world_part part = {.index = index, .told_high = -1, .told_start = -1};
    if (r->frame.version > 12)
        part.id = *id;
    else
        snprintf(part.name, sizeof part.name, "%.*s", (int)name.len, (const char *)name.data);
    return part;
}

static void take_parts(const struct broker_request *r, struct world_part *parts, int *count)
{
    const struct krc_fetch_request *request = body_of(r);
    for (int32_t t = 0; t < request->topic_count; t++)
        for (int32_t i = 0; i < request->topics[t].partition_count; i++) {
            const struct krc_fetch_request_topic *topic = &request->topics[t];
            struct world_part part =
                name_part(r, topic->name, &topic->id, topic->partitions[i].index);
            part.offset = topic->partitions[i].fetch_offset;
            part.epoch = topic->partitions[i].current_leader_epoch;
            part.max_bytes = topic->partitions[i].max_bytes;
            set_part(parts, count, &part);
        }
    for (int32_t t = 0; t < request->forgotten_count; t++)
        for (int32_t i = 0; i < request->forgotten[t].partition_count; i++) {
            const struct krc_fetch_forgotten_topic *topic = &request->forgotten[t];
            struct world_part part =
                name_part(r, topic->name, &topic->id, topic->partitions[i]);
            remove_part(parts, count, &part);
        }
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static void open_session(struct broker_request *r)
{
    struct world_session *session = &world.nodes[r->node].session;
    *session = (struct world_session){0};
    r->is_full = true;
    take_parts(r, r->parts, &r->count);
    if (!world.has_sessions || body_of(r)->session_epoch < 0 || r->frame.version < 7)
        return;
    session->id = world.next_session_id++;
    session->epoch = 1;
    session->by_id = r->frame.version > 12;
    session->count = r->count;
    memcpy(session->parts, r->parts, sizeof session->parts);
    r->session = session;
}

static void go_on_with_session(struct broker_request *r)
{
    struct world_session *session = &world.nodes[r->node].session;
    const struct krc_fetch_request *request = body_of(r);
    if (session->id != request->session_id)
        r->error_code = KRC_KAFKA_FETCH_SESSION_ID_NOT_FOUND;
    else if (session->epoch != request->session_epoch)
        r->error_code = KRC_KAFKA_INVALID_FETCH_SESSION_EPOCH;
    else if (session->by_id != (r->frame.version > 12))
        r->error_code = KRC_KAFKA_FETCH_SESSION_TOPIC_ID_ERROR;
    if (r->error_code != 0)
        return;
    session->epoch = session->epoch == INT32_MAX ? 1 : session->epoch + 1;
    take_parts(r, session->parts, &session->count);
    r->session = session;
    r->count = session->count;
    memcpy(r->parts, session->parts, sizeof r->parts);
}

void broker_begin_fetch(struct broker_request *r)
{
    r->error_code = world_fault(KRC_API_FETCH, -1);
    if (r->error_code != 0)
        return;
    if (body_of(r)->session_epoch <= 0)
        open_session(r);
    else
        go_on_with_session(r);
}

/* ---- What lies at an offset ----------------------------------------------------------------- */

static int64_t end_for(const struct broker_request *r, const struct world_partition *p)
{
    return p->leader != r->node && p->follower_end >= 0 ? p->follower_end : p->end;
}

static int16_t error_of(const struct broker_request *r, const struct world_part *part,
                        const struct world_partition *p)
{
    bool by_id = r->frame.version > 12;
    if (p == NULL)
        return by_id ? KRC_KAFKA_UNKNOWN_TOPIC_ID : KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (part->epoch >= 0 && part->epoch < p->epoch)
        return KRC_KAFKA_FENCED_LEADER_EPOCH;
    if (part->epoch > p->epoch)
        return KRC_KAFKA_UNKNOWN_LEADER_EPOCH;
    if (p->leader != r->node && (p->preferred != r->node || body_of(r)->rack.len == 0))
        return KRC_KAFKA_NOT_LEADER_OR_FOLLOWER;
    return part->offset < p->start || part->offset > end_for(r, p)
               ? KRC_KAFKA_OFFSET_OUT_OF_RANGE
               : 0;
}

static struct krc_bytes slice(const struct broker_request *r, const struct world_partition *p,
                              const struct world_part *part, size_t budget, bool is_first)
{
    struct krc_bytes records = {p->log.data, 0};
    struct krc_batch_header h;
    int64_t end = body_of(r)->isolation_level == 1 ? world_stable(p) : world_high(p);
    size_t most = budget < (size_t)part->max_bytes ? budget : (size_t)part->max_bytes;
    for (size_t at = 0; at < p->log.len; at += (size_t)h.size) {
        ck_assert_int_eq(krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL), 1);
        if (h.base_offset >= end || h.base_offset >= end_for(r, p))
            break;
        if (h.last_offset < part->offset)
            continue;
        if (records.len == 0)
            records.data = p->log.data + at;
        if (records.len == 0 && (size_t)h.size > most)
            most = is_first ? (size_t)h.size : 0; /* the first is whole, or is left out */
        records.len += (size_t)h.size;
    }
    if (records.len > most)
        records.len = most;
    return records;
}

/* KIP-951, in those versions that can tell. */
static void tell_leader(const struct broker_request *r, const struct world_partition *p,
                        struct krc_fetch_partition *to)
{
    bool is_leaders = to->error_code == KRC_KAFKA_NOT_LEADER_OR_FOLLOWER ||
                      to->error_code == KRC_KAFKA_FENCED_LEADER_EPOCH;
    if (p == NULL || r->frame.version < 12 || !is_leaders)
        return;
    to->leader_id = p->leader;
    to->leader_epoch = p->epoch;
}

static struct krc_fetch_partition look(const struct broker_request *r,
                                       const struct world_part *part, size_t budget, bool is_first)
{
    struct world_topic *topic = r->frame.version > 12 ? world_find_id(&part->id)
                                                      : world_find(build_text(part->name));
    struct world_partition *p =
        topic == NULL || part->index >= topic->count ? NULL : &topic->partitions[part->index];
    struct krc_fetch_partition to = {.index = part->index,
                                     .high_watermark = -1,
                                     .last_stable_offset = -1,
                                     .log_start_offset = -1,
                                     .aborted_count = -1,
                                     .preferred_read_replica = -1,
                                     .diverging_epoch = -1,
                                     .diverging_end_offset = -1,
                                     .leader_id = -1,
                                     .leader_epoch = -1};
    to.error_code = error_of(r, part, p);
    tell_leader(r, p, &to);
    if (to.error_code != 0)
        return to;
    to.high_watermark = world_high(p);
    to.last_stable_offset =
        world.missing_stable != INT64_MIN ? world.missing_stable : world_stable(p);
    to.log_start_offset = p->start;
    bool sends_away = p->leader == r->node && p->preferred >= 0 && p->preferred != r->node;
    if (sends_away && body_of(r)->rack.len > 0) {
        to.preferred_read_replica = p->preferred;
        return to;
    }
    to.records = slice(r, p, part, budget, is_first);
    if (body_of(r)->isolation_level == 1)
        to.aborted_count = world_aborted(p, part->offset, world_high(p), &to.aborted);
    return to;
}

/* ---- The answer ----------------------------------------------------------------------------- */

/* A fault that this request meets. */
static bool is_met(const struct broker_request *r, const struct world_fault *fault)
{
    bool is_named = fault->partition < 0;
    for (int i = 0; i < r->count; i++)
        is_named |= r->parts[i].index == fault->partition;
    return is_named && fault->api == KRC_API_FETCH && fault->times > 0 &&
           (fault->met + 1) % fault->every == 0;
}

bool broker_has_news(const struct broker_request *r)
{
    if (group_knows(r->frame.api))
        return group_has_news(r);
    if (r->frame.api != KRC_API_FETCH || r->error_code != 0 || world.is_hasty)
        return true;
    for (size_t i = 0; i < sizeof world.faults / sizeof *world.faults; i++)
        if (is_met(r, &world.faults[i]))
            return true;
    for (int i = 0; i < r->count; i++) {
        struct krc_fetch_partition p = look(r, &r->parts[i], INT32_MAX, true);
        if (p.error_code != 0 || p.records.len > 0 || p.preferred_read_replica >= 0)
            return true;
    }
    return false;
}

/* Whether the client has to be told of it in a session. */
static bool is_news(struct world_part *known, const struct krc_fetch_partition *p)
{
    bool news = p->error_code != 0 || p->records.len > 0 || p->preferred_read_replica >= 0 ||
                p->high_watermark != known->told_high || p->log_start_offset != known->told_start;
    known->told_high = p->error_code != 0 ? -1 : p->high_watermark;
    known->told_start = p->log_start_offset;
    return news;
}

static void add_endpoint(struct krc_fetch_response *response, int32_t node)
{
    for (int32_t i = 0; i < response->endpoint_count; i++)
        if (response->endpoints[i].node_id == node)
            return;
    response->endpoints[response->endpoint_count++] = (struct krc_fetch_endpoint){
        .node_id = node, .host = build_text(world_host(node)), .port = 9092};
}

/* What is told of each partition is remembered in the session; those with records come last the
 * next time. */
static struct world_part *find_known(struct world_session *session, const struct world_part *part)
{
    for (int i = 0; i < session->count; i++)
        if (is_same_part(&session->parts[i], part))
            return &session->parts[i];
    return NULL;
}

static void make_last(struct world_session *session, const struct world_part *part)
{
    struct world_part copy = *part;
    remove_part(session->parts, &session->count, &copy);
    set_part(session->parts, &session->count, &copy);
}

static void add_topic(struct krc_fetch_response *response, const struct world_part *part,
                      const struct krc_fetch_partition *p)
{
    struct krc_fetch_topic *to = &response->topics[response->topic_count++];
    to->id = part->id;
    to->name = build_text(part->name);
    to->partitions = krc_arena_take(&world.arena, sizeof *to->partitions);
    to->partitions[0] = *p;
    to->partition_count = 1;
}

void broker_answer_fetch(struct broker_request *r, struct krc_fetch_response *response)
{
    size_t budget = (size_t)body_of(r)->max_bytes;
    bool is_first = true;
    response->error_code = r->error_code;
    response->session_id = r->session == NULL ? 0 : r->session->id;
    response->topics = krc_arena_take(&world.arena, WORLD_PARTS * sizeof *response->topics);
    response->endpoints = krc_arena_take(&world.arena, WORLD_NODES * sizeof *response->endpoints);
    for (int i = 0; i < r->count && r->error_code == 0; i++) {
        struct world_part *known =
            r->session == NULL ? NULL : find_known(r->session, &r->parts[i]);
        struct krc_fetch_partition p = look(r, &r->parts[i], budget, is_first);
        int16_t fault = world_fault(KRC_API_FETCH, r->parts[i].index);
        if (fault != 0) {
            p.error_code = fault;
            p.records.len = 0;
            p.high_watermark = p.last_stable_offset = p.log_start_offset = -1;
        }
        if (p.leader_id >= 0 && r->frame.version >= 16)
            add_endpoint(response, p.leader_id);
        bool news = known == NULL || is_news(known, &p);
        if (news || r->is_full)
            add_topic(response, &r->parts[i], &p);
        if (p.records.len > 0 && known != NULL)
            make_last(r->session, known);
        is_first = is_first && p.records.len == 0;
        budget -= p.records.len < budget ? p.records.len : budget;
    }
}
