/*
 * Messages written to frames and read from them, whichever way they go.  Frames have their size
 * before them; their correlation id is EXCHANGE_ID, and their client id "krc".
 */
#ifndef KRC_TESTS_EXCHANGE_H
#define KRC_TESTS_EXCHANGE_H

#include "protocol/api.h"

enum { EXCHANGE_ID = 0x01020304 };

/* What travels: a request or a response of an API in a version. */
struct exchange {
    enum krc_api_name api;
    bool response;
    int16_t version;
};

void exchange_write(const struct exchange *x, struct krc_buffer *out, const void *message);

/* `*message` is taken from the arena.  A frame that is accepted without being this exchange's
 * fails the test. */
int exchange_read(const struct exchange *x, const uint8_t *frame, size_t len, void **message,
                  struct krc_arena *arena) KRC_MUST_USE;

/* Calls `check` for each API, direction and version. */
void exchange_each(void (*check)(const struct exchange *x));

#endif
