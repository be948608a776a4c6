/*
 * Source of the formats: the message definitions in Kafka's group-coordinator; numbers are
 * big-endian, and strings, arrays and tagged fields are those of protocol/wire.h.
 */
#include "admin/group_records.h"

#include "protocol/wire.h"

/* The bytes that an element of an array takes at the least. */
enum { CLASSIC_MEMBER_LEAST = 15, TOPIC_LEAST = 6, TOPIC_ID_LEAST = 18 };

static struct krc_wire reading(struct krc_bytes bytes, struct krc_arena *arena)
{
    return (struct krc_wire){.in = krc_cursor(bytes.data, bytes.len), .arena = arena};
}

/* What a value begins with:
 *      int16  version */
static int begin(struct krc_wire *w, const char *what, int16_t newest, int16_t flexible_since,
                 krc_error *error)
{
    krc_wire_i16(w, &w->version);
    w->flexible = w->version >= flexible_since;
    if (w->rc == KRC_OK && (w->version < 0 || w->version > newest))
        return krc_fail(error, KRC_E_UNSUPPORTED, "%s has version %d: those up to %d are known",
                        what, w->version, newest);
    return KRC_OK;
}

static int finish(const struct krc_wire *w, const char *what, krc_error *error)
{
    switch (w->rc) {
    case KRC_OK:
        return KRC_OK;
    case KRC_E_NOMEM:
        return krc_fail(error, KRC_E_NOMEM, "out of memory for %s", what);
    default:
        return krc_fail(error, KRC_E_CORRUPT, "%s is not what its version %d demands", what,
                        w->version);
    }
}

/*
 * A key:
 *      int16   type, which says what follows
 *      string  group
 *      string  topic      0, 1
 *      int32   partition  0, 1
 *      string  member     5, 8
 */
int krc_group_key_read(struct krc_bytes bytes, struct krc_group_key *key, krc_error *error)
{
    struct krc_wire w = reading(bytes, NULL);
    *key = (struct krc_group_key){0};
    krc_wire_i16(&w, &key->type);
    switch (key->type) {
    case KRC_OFFSET_COMMIT_OLD:
    case KRC_OFFSET_COMMIT:
        krc_wire_string(&w, &key->group);
        krc_wire_string(&w, &key->topic);
        krc_wire_i32(&w, &key->partition);
        break;
    case KRC_CLASSIC_GROUP:
    case KRC_CONSUMER_GROUP:
    case KRC_CONSUMER_TARGET:
        krc_wire_string(&w, &key->group);
        break;
    case KRC_CONSUMER_MEMBER:
    case KRC_CONSUMER_ASSIGNMENT:
        krc_wire_string(&w, &key->group);
        krc_wire_string(&w, &key->member);
        break;
    default:
        return 0;
    }
    if (w.rc < 0)
        return krc_fail(error, KRC_E_CORRUPT, "a key of %zu bytes is not what its type %d demands",
                        bytes.len, key->type);
    return 1;
}

/* ---- Offsets ------------------------------------------------------------------------------- */

/* Tag 0: uuid  topic id */
static bool commit_tag(struct krc_wire *w, uint32_t tag, void *message)
{
    struct krc_offset_commit *commit = message;
    if (tag != 0)
        return false;
    krc_wire_uuid(w, &commit->topic_id);
    return true;
}

/*
 * An offset commit, versions 0 to 4, flexible from 4 on:
 *      int64   offset
 *      int32   leader epoch      v3+
 *      string  metadata
 *      int64   commit time
 *      int64   expiry time       v1
 *      tags    topic id
 */
int krc_offset_commit_read(struct krc_bytes value, struct krc_offset_commit *commit,
                           krc_error *error)
{
    static const char what[] = "an offset commit";
    struct krc_wire w = reading(value, NULL);
    *commit = (struct krc_offset_commit){0};
    KRC_TRY(begin(&w, what, 4, 4, error));
    krc_wire_i64(&w, &commit->offset);
    krc_wire_i32_since(&w, 3, &commit->leader_epoch, -1);
    krc_wire_string(&w, &commit->metadata);
    krc_wire_i64(&w, &commit->commit_time_ms);
    if (w.version == 1)
        krc_wire_i64(&w, &(int64_t){0});
    krc_wire_known_tags(&w, NULL, 0, commit_tag, commit);
    return finish(&w, what, error);
}

/* ---- Classic groups ------------------------------------------------------------------------ */

/*
 * A member of a classic group:
 *      string  member id
 *      string  instance id, nullable  v3+
 *      string  client id
 *      string  client host
 *      int32   rebalance timeout      v1+
 *      int32   session timeout
 *      bytes   subscription
 *      bytes   assignment
 */
static void classic_member(struct krc_wire *w, void *element)
{
    struct krc_classic_member *m = element;
    krc_wire_string(w, &m->id);
    if (w->version >= 3)
        krc_wire_nullable_string(w, &m->instance_id);
    krc_wire_string(w, &m->client_id);
    krc_wire_string(w, &m->host);
    krc_wire_i32_since(w, 1, &(int32_t){0}, -1);
    krc_wire_i32(w, &(int32_t){0});
    krc_wire_bytes(w, &(struct krc_bytes){0});
    krc_wire_bytes(w, &m->assignment);
    krc_wire_tags(w);
}

/*
 * A classic group, versions 0 to 4, flexible from 4 on:
 *      string    protocol type
 *      int32     generation
 *      string    protocol, nullable
 *      string    leader, nullable
 *      int64     time of the state  v2+
 *      [member]
 */
int krc_classic_group_read(struct krc_bytes value, struct krc_classic_group *group,
                           struct krc_arena *arena, krc_error *error)
{
    static const char what[] = "a classic group";
    struct krc_wire w = reading(value, arena);
    *group = (struct krc_classic_group){0};
    KRC_TRY(begin(&w, what, 4, 4, error));
    krc_wire_string(&w, &group->protocol_type);
    krc_wire_i32(&w, &(int32_t){0});
    krc_wire_nullable_string(&w, &(struct krc_bytes){0});
    krc_wire_nullable_string(&w, &(struct krc_bytes){0});
    krc_wire_i64_since(&w, 2, &(int64_t){0}, -1);
    krc_wire_array(&w, &group->members, &group->member_count, sizeof *group->members,
                   CLASSIC_MEMBER_LEAST, classic_member);
    krc_wire_tags(&w);
    return finish(&w, what, error);
}

/* ---- KIP-848's groups ---------------------------------------------------------------------- */

/*
 * A group, and a target assignment, version 0, flexible:
 *      int32  epoch
 */
int krc_group_epoch_read(struct krc_bytes value, int32_t *epoch, krc_error *error)
{
    static const char what[] = "a group's epoch";
    struct krc_wire w = reading(value, NULL);
    KRC_TRY(begin(&w, what, 0, 0, error));
    krc_wire_i32(&w, epoch);
    krc_wire_tags(&w);
    return finish(&w, what, error);
}

/*
 * A member, version 0, flexible:
 *      string    instance id, nullable
 *      string    rack, nullable
 *      string    client id
 *      string    client host
 * and what it wants, which is not looked at: topics, a regular expression, a timeout, an assignor.
 */
int krc_consumer_member_read(struct krc_bytes value, struct krc_consumer_member *member,
                             krc_error *error)
{
    static const char what[] = "a group's member";
    struct krc_wire w = reading(value, NULL);
    KRC_TRY(begin(&w, what, 0, 0, error));
    krc_wire_nullable_string(&w, &member->instance_id);
    krc_wire_nullable_string(&w, &(struct krc_bytes){0});
    krc_wire_string(&w, &member->client_id);
    krc_wire_string(&w, &member->host);
    return finish(&w, what, error);
}

/*
 * A topic's partitions:
 *      uuid     topic id
 *      [int32]  partitions
 */
static void identified_topic(struct krc_wire *w, void *element)
{
    struct krc_assigned_topic *t = element;
    krc_wire_uuid(w, &t->id);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * A member's current assignment, version 0, flexible:
 *      int32    member epoch
 *      int32    member epoch before
 *      int8     state
 *      [topic]  assigned
 * and those that it has still to give up, which are not looked at.
 */
int krc_consumer_assignment_read(struct krc_bytes value,
                                 struct krc_consumer_assignment *assignment,
                                 struct krc_arena *arena, krc_error *error)
{
    static const char what[] = "a member's assignment";
    struct krc_wire w = reading(value, arena);
    *assignment = (struct krc_consumer_assignment){0};
    KRC_TRY(begin(&w, what, 0, 0, error));
    krc_wire_i32(&w, &assignment->member_epoch);
    krc_wire_i32(&w, &(int32_t){0});
    krc_wire_i8(&w, &assignment->state);
    krc_wire_array(&w, &assignment->topics, &assignment->topic_count, sizeof *assignment->topics,
                   TOPIC_ID_LEAST, identified_topic);
    return finish(&w, what, error);
}
