/*
 * A walk through a message's fields, which fills them or tells them as text.
 */
#ifndef KRC_TESTS_VISIT_H
#define KRC_TESTS_VISIT_H

#include <stdio.h>

#include "tests/support/messages.h"

struct visit {
    FILE *out; /* to tell; NULL: to fill */
    enum message_values values;
    struct krc_arena *arena;
    uint64_t *seed;
    int16_t version;
    uint32_t path; /* as tests/protocol/golden/README has it */
};

enum { NOT_NULL, NULLABLE };
enum { EVER = INT16_MAX };

/* A number that versions `since` to `until` have, and what reading others gives. */
#define NUMBER_IN(name, field, since, until, absent)       \
    ((field) = visit_number(v, name, field, sizeof(field), \
                            v->version >= (since) && v->version <= (until), absent))
#define NUMBER(name, field) NUMBER_IN(name, field, 0, EVER, 0)
int64_t visit_number(struct visit *v, const char *name, int64_t now, size_t size, bool there,
                     int64_t absent);

void visit_boolean(struct visit *v, const char *name, bool *b, int16_t since, int16_t until);
void visit_uuid(struct visit *v, const char *name, struct krc_uuid *id, int16_t since);

void visit_text(struct visit *v, const char *name, struct krc_bytes *text, int nullable);
void visit_text_in(struct visit *v, const char *name, struct krc_bytes *text, int nullable,
                   int16_t since, int16_t until);

typedef void visit_fn(struct visit *v, void *element);
#define ARRAY(name, list, count, nullable, element) \
    visit_array(v, name, &(list), &(count), sizeof *(list), nullable, element, 0)
#define ARRAY_SINCE(name, list, count, since, element) \
    visit_array(v, name, &(list), &(count), sizeof *(list), NOT_NULL, element, since)
void visit_array(struct visit *v, const char *name, void *list, int32_t *count, size_t size,
                 int nullable, visit_fn *element, int16_t since);

/* Elements of arrays of plain numbers and strings, which go by the array's name. */
#define NUMBERS(function, name)                          \
    static void function(struct visit *v, void *element) \
    {                                                    \
        int32_t *n = element;                            \
        NUMBER(name, *n);                                \
    }
#define TEXTS(function, name)                            \
    static void function(struct visit *v, void *element) \
    {                                                    \
        visit_text(v, name, element, NOT_NULL);          \
    }

/* The walk through element i of an array. */
struct visit visit_inside(const struct visit *v, int32_t i);

void *visit_take(struct visit *v, size_t size);

#endif
