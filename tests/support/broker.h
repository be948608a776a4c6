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
    /* Fetch: */
    int16_t error_code; /* of the session */
    struct world_session *session; /* NULL: without one */
    bool is_full;                  /* all its partitions are answered */
    struct world_part parts[WORLD_PARTS];
    int count;
};

/* Reads it; what cannot be read fails the test. */
void broker_take(struct broker_request *request, int32_t node, const uint8_t *frame, size_t len);
void broker_drop(struct broker_request *request);

/* Whether it is answered at once; else it waits for news (fetches only). */
bool broker_has_news(const struct broker_request *request);

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
