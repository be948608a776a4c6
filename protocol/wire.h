/*
 * One description of a message serves both ways: it walks the fields in their order and each
 * primitive reads or writes, as the wire's mode says.
 *
 *     static void partition(struct krc_wire *w, struct krc_fetch_partition *p)
 *     {
 *         krc_wire_i32(w, &p->index);
 *         if (w->version >= 9)
 *             krc_wire_i32(w, &p->leader_epoch);
 *         krc_wire_tags(w);
 *     }
 *
 * The first failure is kept in `rc`; after it reads give zeros, nothing is allocated and nothing
 * is written, so that a description asks once at its end.  What is read are views into the frame;
 * arrays are taken from the arena, after their count was held against the bytes that are left.
 *
 * Source of the format: Kafka's protocol guide and message definitions.  Numbers are big-endian.
 * Flexible versions have compact strings and arrays (an unsigned varint of the length + 1, 0 for
 * null) and end each struct with tagged fields; the others int16 and int32 lengths, -1 for null.
 */
#ifndef KRC_PROTOCOL_WIRE_H
#define KRC_PROTOCOL_WIRE_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"

struct krc_wire {
    bool writing;
    bool flexible;
    int16_t version;
    int rc; /* KRC_OK, KRC_E_CORRUPT (reading), KRC_E_INVALID (writing: what the version cannot
               carry), KRC_E_NOMEM */
    struct krc_cursor in;    /* reading */
    struct krc_arena *arena; /* reading */
    struct krc_buffer *out;  /* writing */
};

void krc_wire_bool(struct krc_wire *w, bool *v);
void krc_wire_i8(struct krc_wire *w, int8_t *v);
void krc_wire_i16(struct krc_wire *w, int16_t *v);
void krc_wire_i32(struct krc_wire *w, int32_t *v);
void krc_wire_i64(struct krc_wire *w, int64_t *v);
void krc_wire_uuid(struct krc_wire *w, struct krc_uuid *v);

/* Fields that versions before `since` lack: reading one of those gives `absent`. */
void krc_wire_i32_since(struct krc_wire *w, int16_t since, int32_t *v, int32_t absent);
void krc_wire_i64_since(struct krc_wire *w, int16_t since, int64_t *v, int64_t absent);

/* Strings of at most 32,767 bytes: a view.  Where null is not allowed it is corrupt (reading), and
 * written as empty. */
void krc_wire_string(struct krc_wire *w, struct krc_bytes *v);
void krc_wire_nullable_string(struct krc_wire *w, struct krc_bytes *v);
/* Bytes with an int32 (or compact) length, such as records. */
void krc_wire_bytes(struct krc_wire *w, struct krc_bytes *v);
void krc_wire_nullable_bytes(struct krc_wire *w, struct krc_bytes *v);

/*
 * An array of structs of `size` bytes, each at least `least` bytes on the wire: `list` points to
 * the pointer to them, which reading takes from the arena, zeroed.  Then each element is described.
 * A null array has a count of -1; where it is not allowed it is corrupt or invalid.
 */
typedef void krc_wire_fn(struct krc_wire *w, void *element);
void krc_wire_array(struct krc_wire *w, void *list, int32_t *count, size_t size, size_t least,
                    krc_wire_fn *element);
void krc_wire_nullable_array(struct krc_wire *w, void *list, int32_t *count, size_t size,
                             size_t least, krc_wire_fn *element);
void krc_wire_i32_array(struct krc_wire *w, int32_t **list, int32_t *count);
void krc_wire_nullable_i32_array(struct krc_wire *w, int32_t **list, int32_t *count);
void krc_wire_string_array(struct krc_wire *w, struct krc_bytes **list, int32_t *count);
void krc_wire_nullable_string_array(struct krc_wire *w, struct krc_bytes **list, int32_t *count);

/*
 * The same for an array that may be long, and is only walked: reading checks all of it, takes
 * nothing from the arena, leaves the list NULL, and remembers in `rows` where the elements are.
 * Writing takes them from the list.
 */
struct krc_wire_rows {
    struct krc_wire wire;
    int32_t left;
    size_t size;
    krc_wire_fn *element;
};
void krc_wire_rows(struct krc_wire *w, void *list, int32_t *count, size_t size, size_t least,
                   krc_wire_fn *element, struct krc_wire_rows *rows);

/* Reads the next element; its own arrays are taken from `arena`, which the caller resets when it is
 * done with the element.  False: that was the last, or memory is short (rows->wire.rc).  A copy of
 * the rows is another walk. */
bool krc_wire_next(struct krc_wire_rows *rows, void *element, struct krc_arena *arena);

/* An array's count alone, where its elements are described one by one. */
void krc_wire_count(struct krc_wire *w, int32_t *count, size_t least);

/* The same for an array that is written with one element, and whose first is meant: how many are
 * to be described.  None is corrupt. */
int32_t krc_wire_count_of_one(struct krc_wire *w, size_t least);

/* The tagged fields at a struct's end, of which none is known: they are skipped, or none is
 * written.  Nothing in versions that are not flexible. */
void krc_wire_tags(struct krc_wire *w);

/* The same where some are known.  Reading, `field` is called for each with its tag, the wire
 * bounded to that field, and returns false for one it does not know.  Writing, it is called for
 * each of `tags`, in rising order, with the wire appending to a buffer aside; false leaves that
 * one out. */
typedef bool krc_wire_tag_fn(struct krc_wire *w, uint32_t tag, void *message);
void krc_wire_known_tags(struct krc_wire *w, const uint32_t *tags, size_t count,
                         krc_wire_tag_fn *field, void *message);

#endif
