#include "admin/transactional_ids.h"

#include <stdlib.h>
#include <string.h>

#include "admin/state_log.h"
#include "protocol/wire.h"
#include "txnfilter/producers.h"

/* ---- Records, by the message definitions of Kafka's transaction-coordinator ------------------ */

/*
 * A key:
 *      int16   type, 0
 *      string  transactional id
 */
int krc_transaction_key_read(struct krc_bytes key, struct krc_bytes *id, krc_error *error)
{
    struct krc_wire w = {.in = krc_cursor(key.data, key.len)};
    krc_wire_i16(&w, &w.version);
    if (w.rc == KRC_OK && w.version != 0)
        return 0;
    krc_wire_string(&w, id);
    if (w.rc < 0)
        return krc_fail(error, KRC_E_CORRUPT, "a key of %zu bytes is no transactional id's",
                        key.len);
    return 1;
}

/* The bytes that a topic takes at the least. */
enum { TOPIC_LEAST = 3 };

struct topic {
    struct krc_bytes name;
    int32_t *partitions;
    int32_t count;
};

/*
 * A topic's partitions:
 *      string   topic
 *      [int32]  partitions
 */
static void topic(struct krc_wire *w, void *element)
{
    struct topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_i32_array(w, &t->partitions, &t->count);
    krc_wire_tags(w);
}

/* Tag 0: int64  producer id of the transaction before
 * Tag 1: int64  producer id of the next one */
static bool note_tag(struct krc_wire *w, uint32_t tag, void *message)
{
    struct krc_transaction_note *note = message;
    if (tag > 1)
        return false;
    krc_wire_i64(w, tag == 0 ? &note->previous_producer_id : &note->next_producer_id);
    return true;
}

/*
 * A transactional id's state, versions 0 and 1, flexible from 1 on:
 *      int16    version
 *      int64    producer id
 *      int16    producer epoch
 *      int32    timeout in ms
 *      int8     status
 *      [topic]  nullable
 *      int64    time of the last update
 *      int64    time of the transaction's start
 *      tags     other producer ids
 */
int krc_transaction_note_read(struct krc_bytes value, struct krc_transaction_note *note,
                              struct krc_arena *arena, krc_error *error)
{
    struct krc_wire w = {.in = krc_cursor(value.data, value.len), .arena = arena};
    struct topic *topics;
    int32_t count;
    *note = (struct krc_transaction_note){.previous_producer_id = -1, .next_producer_id = -1};
    krc_wire_i16(&w, &w.version);
    w.flexible = w.version >= 1;
    if (w.rc == KRC_OK && (w.version < 0 || w.version > 1))
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "a transaction's state has version %d: 0 and 1 are known", w.version);
    krc_wire_i64(&w, &note->producer_id);
    krc_wire_i16(&w, &(int16_t){0});
    krc_wire_i32(&w, &(int32_t){0});
    krc_wire_i8(&w, &(int8_t){0});
    krc_wire_nullable_array(&w, &topics, &count, sizeof *topics, TOPIC_LEAST, topic);
    krc_wire_i64(&w, &(int64_t){0});
    krc_wire_i64(&w, &(int64_t){0});
    krc_wire_known_tags(&w, NULL, 0, note_tag, note);
    if (w.rc < 0)
        return krc_fail(error, w.rc, "a transaction's state is not what its version %d demands",
                        w.version);
    return KRC_OK;
}

/* ---- Who is who ------------------------------------------------------------------------------ */

struct krc_transactional_ids {
    struct krc_producers places; /* producer id -> where in `list` */
    struct krc_transactional_id **list;
    size_t count, capacity;
    struct krc_arena arena, scratch; /* of what is in the list; of the record at hand */
};

krc_transactional_ids *krc_transactional_ids_new(void)
{
    return calloc(1, sizeof(krc_transactional_ids));
}

void krc_transactional_ids_free(krc_transactional_ids *ids)
{
    if (ids == NULL)
        return;
    krc_producers_free(&ids->places);
    krc_arena_free(&ids->arena);
    krc_arena_free(&ids->scratch);
    free(ids->list);
    free(ids);
}

static int grow(krc_transactional_ids *ids, krc_error *error)
{
    if (ids->count < ids->capacity)
        return KRC_OK;
    size_t capacity = ids->capacity == 0 ? 16 : 2 * ids->capacity;
    struct krc_transactional_id **list = realloc(ids->list, capacity * sizeof *list);
    if (list == NULL)
        return krc_fail_nomem(error, capacity * sizeof *list);
    ids->list = list;
    ids->capacity = capacity;
    return KRC_OK;
}

static int copy_text(krc_transactional_ids *ids, struct krc_bytes text, const char **copy,
                     krc_error *error)
{
    char *bytes = krc_arena_take(&ids->arena, text.len + 1);
    if (bytes == NULL)
        return krc_fail_nomem(error, text.len + 1);
    if (text.len > 0)
        memcpy(bytes, text.data, text.len);
    *copy = bytes;
    return KRC_OK;
}

/* A producer id never changes hands. */
int krc_transactional_ids_put(krc_transactional_ids *ids, int64_t producer_id,
                              struct krc_bytes name, struct krc_transactional_id **id,
                              krc_error *error)
{
    const int64_t *place = krc_producers_get(&ids->places, producer_id);
    if (place != NULL) {
        *id = ids->list[*place];
        return KRC_OK;
    }
    KRC_TRY(grow(ids, error));
    *id = krc_arena_take(&ids->arena, sizeof **id);
    if (*id == NULL)
        return krc_fail_nomem(error, sizeof **id);
    **id = (struct krc_transactional_id){
        .coordinator = -1, .timeout_ms = -1, .start_time_ms = -1};
    KRC_TRY(copy_text(ids, name, &(*id)->name, error));
    KRC_TRY(krc_producers_put(&ids->places, producer_id, (int64_t)ids->count, error));
    ids->list[ids->count++] = *id;
    return KRC_OK;
}

int krc_transactional_ids_set_state(krc_transactional_ids *ids, struct krc_transactional_id *id,
                                    struct krc_bytes state, krc_error *error)
{
    return copy_text(ids, state, &id->state, error);
}

struct krc_transactional_id *krc_transactional_ids_at(const krc_transactional_ids *ids, size_t i)
{
    return i < ids->count ? ids->list[i] : NULL;
}

const struct krc_transactional_id *krc_transactional_id(const krc_transactional_ids *ids,
                                                        int64_t producer_id)
{
    const int64_t *place = krc_producers_get(&ids->places, producer_id);
    return place == NULL ? NULL : ids->list[*place];
}

/* ---- The transaction log --------------------------------------------------------------------- */

/* -1: there is none. */
static int add(krc_transactional_ids *ids, int64_t producer_id, struct krc_bytes name,
               krc_error *error)
{
    struct krc_transactional_id *id;
    return producer_id < 0 ? KRC_OK
                           : krc_transactional_ids_put(ids, producer_id, name, &id, error);
}

/* A null says that the coordinator has forgotten the id, not that it was another's. */
static int take_record(void *arg, const struct krc_record *record, krc_error *error)
{
    krc_transactional_ids *ids = arg;
    struct krc_transaction_note note;
    struct krc_bytes name;
    int rc = krc_transaction_key_read(record->key, &name, error);
    if (rc <= 0 || record->value.data == NULL)
        return rc < 0 ? rc : KRC_OK;
    krc_arena_reset(&ids->scratch);
    KRC_TRY(krc_transaction_note_read(record->value, &note, &ids->scratch, error));
    KRC_TRY(add(ids, note.producer_id, name, error));
    KRC_TRY(add(ids, note.previous_producer_id, name, error));
    return add(ids, note.next_producer_id, name, error);
}

int krc_transactional_ids_read(const krc *handle, krc_transactional_ids *ids, krc_error *error)
{
    return krc_state_log_read(handle, "__transaction_state", take_record, NULL, ids, error);
}
