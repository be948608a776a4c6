#include "groups/subscription.h"

#include <stdlib.h>

enum { TOPIC_LEAST = 6 };

/* ---- Order ----------------------------------------------------------------------------------- */

int krc_bytes_compare(struct krc_bytes a, struct krc_bytes b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter > 0 ? memcmp(a.data, b.data, shorter) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_bytes(const void *a, const void *b)
{
    const struct krc_bytes *x = a, *y = b;
    return krc_bytes_compare(*x, *y);
}

static int by_topic(const void *a, const void *b)
{
    const struct krc_topic_partitions *x = a, *y = b;
    return krc_bytes_compare(x->topic, y->topic);
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sort(void *list, int32_t count, size_t size, int (*order)(const void *, const void *))
{
    if (count > 1)
        qsort(list, (size_t)count, size, order);
}

static void sort_subscription(struct krc_subscription *s)
{
    sort(s->topics, s->topic_count, sizeof *s->topics, by_bytes);
    sort(s->owned, s->owned_count, sizeof *s->owned, by_topic);
    for (int32_t i = 0; i < s->owned_count; i++)
        sort(s->owned[i].partitions, s->owned[i].partition_count, sizeof *s->owned[i].partitions,
             by_number);
}

/* ---- The messages ---------------------------------------------------------------------------- */

/*
 * Partitions of a topic:
 *      string   topic
 *      [int32]  partitions
 */
static void topic_partitions(struct krc_wire *w, void *element)
{
    struct krc_topic_partitions *t = element;
    krc_wire_string(w, &t->topic);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
}

static void topics(struct krc_wire *w, struct krc_topic_partitions **list, int32_t *count)
{
    krc_wire_array(w, list, count, sizeof **list, TOPIC_LEAST, topic_partitions);
}

/*
 * Subscription, behind its version:
 *      [string]                 topics
 *      bytes                    user data, nullable
 *      [partitions of a topic]  owned           v1+
 *      int32                    generation      v2+
 *      string                   rack, nullable  v3+
 */
static void subscription(struct krc_wire *w, void *message)
{
    struct krc_subscription *s = message;
    krc_wire_string_array(w, &s->topics, &s->topic_count);
    krc_wire_nullable_bytes(w, &s->user_data);
    if (w->version >= 1)
        topics(w, &s->owned, &s->owned_count);
    krc_wire_i32_since(w, 2, &s->generation, KRC_NO_GENERATION);
    if (w->version >= 3)
        krc_wire_nullable_string(w, &s->rack);
}

/*
 * Assignment, behind its version:
 *      [partitions of a topic]  assigned
 *      bytes                    user data, nullable
 */
static void assignment(struct krc_wire *w, void *message)
{
    struct krc_assignment *a = message;
    topics(w, &a->topics, &a->topic_count);
    krc_wire_nullable_bytes(w, &a->user_data);
}

/* ---- Reading and writing --------------------------------------------------------------------- */

typedef void describe_fn(struct krc_wire *w, void *message);

/* Null is as good as empty. */
static struct krc_wire reader(struct krc_bytes bytes, struct krc_arena *arena)
{
    const void *data = bytes.data != NULL ? bytes.data : (const uint8_t *)"";
    return (struct krc_wire){.in = krc_cursor(data, bytes.len), .arena = arena};
}

static int fail(krc_error *error, int code, const char *what)
{
    switch (code) {
    case KRC_E_NOMEM:
        return krc_fail(error, code, "out of memory for %s of a group's member", what);
    case KRC_E_INVALID:
        return krc_fail(error, code, "%s of a group's member has a name or list too long to send",
                        what);
    default:
        return krc_fail(error, code,
                        "%s of a group's member is not in the format of Kafka's consumers: its "
                        "length or its version is wrong",
                        what);
    }
}

static int read_message(struct krc_bytes bytes, describe_fn *describe, const char *what,
                        void *message, struct krc_arena *arena, krc_error *error)
{
    struct krc_wire w = reader(bytes, arena);
    int16_t version;
    krc_wire_i16(&w, &version);
    bool newer = version > KRC_SUBSCRIPTION_NEWEST;
    w.version = newer ? KRC_SUBSCRIPTION_NEWEST : version;
    describe(&w, message);
    if (w.rc != KRC_OK)
        return fail(error, w.rc, what);
    if (version < 0 || (krc_left(&w.in) > 0 && !newer))
        return fail(error, KRC_E_CORRUPT, what);
    return KRC_OK;
}

int krc_subscription_read(struct krc_bytes bytes, struct krc_subscription *s,
                          struct krc_arena *arena, krc_error *error)
{
    *s = (struct krc_subscription){0};
    return read_message(bytes, subscription, "the subscription", s, arena, error);
}

int krc_assignment_read(struct krc_bytes bytes, struct krc_assignment *a, struct krc_arena *arena,
                        krc_error *error)
{
    *a = (struct krc_assignment){0};
    return read_message(bytes, assignment, "the assignment", a, arena, error);
}

static int written(struct krc_wire *w, size_t start, const char *what, krc_error *error)
{
    if (w->rc == KRC_OK)
        return KRC_OK;
    w->out->len = start;
    return fail(error, w->rc, what);
}

static int write_message(struct krc_buffer *out, int16_t version, describe_fn *describe,
                         const char *what, void *message, krc_error *error)
{
    struct krc_wire w = {.writing = true, .version = version, .out = out};
    size_t start = out->len;
    krc_wire_i16(&w, &version);
    describe(&w, message);
    return written(&w, start, what, error);
}

int krc_subscription_write(struct krc_buffer *out, int16_t version, struct krc_subscription *s,
                           krc_error *error)
{
    sort_subscription(s);
    return write_message(out, version, subscription, "the subscription", s, error);
}

int krc_assignment_write(struct krc_buffer *out, int16_t version, struct krc_assignment *a,
                         krc_error *error)
{
    return write_message(out, version, assignment, "the assignment", a, error);
}

/* ---- The assignors' user data ---------------------------------------------------------------- */

/*
 * "sticky", without a version ahead:
 *      [partitions of a topic]  owned
 *      int32                    generation, which the oldest members leave out
 */
int krc_sticky_data_read(struct krc_bytes bytes, struct krc_claims *claims, struct krc_arena *arena,
                         krc_error *error)
{
    struct krc_wire w = reader(bytes, arena);
    *claims = (struct krc_claims){.generation = KRC_NO_GENERATION};
    topics(&w, &claims->topics, &claims->topic_count);
    if (w.rc == KRC_E_NOMEM)
        return fail(error, w.rc, "the user data");
    if (w.rc != KRC_OK)
        claims->topic_count = 0;
    else if (krc_left(&w.in) >= sizeof claims->generation)
        krc_wire_i32(&w, &claims->generation);
    return KRC_OK;
}

int krc_sticky_data_write(struct krc_buffer *out, struct krc_claims *claims, krc_error *error)
{
    struct krc_wire w = {.writing = true, .out = out};
    size_t start = out->len;
    topics(&w, &claims->topics, &claims->topic_count);
    krc_wire_i32(&w, &claims->generation);
    return written(&w, start, "the user data", error);
}

int32_t krc_cooperative_data_read(struct krc_bytes bytes)
{
    return bytes.len >= sizeof(int32_t) ? (int32_t)krc_be32(bytes.data) : KRC_NO_GENERATION;
}

int krc_cooperative_data_write(struct krc_buffer *out, int32_t generation, krc_error *error)
{
    uint8_t bytes[4];
    krc_put_be32(bytes, (uint32_t)generation);
    return krc_buffer_append(out, bytes, sizeof bytes, error);
}
