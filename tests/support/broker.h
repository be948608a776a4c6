/*
 * The brokers of tests/support/world.h: what they answer to requests.
 */
#ifndef KRC_TESTS_BROKER_H
#define KRC_TESTS_BROKER_H

#include "tests/support/frames.h"
#include "tests/support/world.h"

/* A request as it lies at a broker. */
struct broker_request {
    int32_t node;
    struct krc_arena arena; /* of what was read out of the frame */
    struct frame_request frame;
    bool is_begun;
    int16_t error_code; /* that is known before it is answered: of the session, or the group */
    char member_id[64]; /* of a group's member: whose it is */
    char says[256];     /* to the group, as text */
    /* Fetch: */
    struct world_session *session; /* NULL: without one */
    bool is_full;                  /* all its partitions are answered */
    struct world_part parts[WORLD_PARTS];
    int count;
};

/* Reads it; what cannot be read fails the test. */
void broker_take(struct broker_request *request, int32_t node, const uint8_t *frame, size_t len);
void broker_drop(struct broker_request *request);

/* Its turn has come: a broker looks at one request of a connection at a time.  Again is nothing. */
void broker_begin(struct broker_request *request);

/* Whether it is answered at once; else it waits for news, or for a group's other members: for so
 * long at most. */
bool broker_has_news(const struct broker_request *request);
int64_t broker_patience_ms(const struct broker_request *request);

/* Appends the answer's frame. */
void broker_answer(struct broker_request *request, struct krc_buffer *out);

/* "Fetch n1 t-0@5", and with `details` what else it says.  What any broker answers is told without
 * one. */
void broker_describe(const struct broker_request *request, bool details, char *text,
                     size_t size);

/* ---- Between broker.c and broker_fetch.c ---------------------------------------------------- */

void broker_begin_fetch(struct broker_request *request);
void broker_answer_fetch(struct broker_request *request, struct krc_fetch_response *response);

#endif
