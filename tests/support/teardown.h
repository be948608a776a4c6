/*
 * A consumer that is closed while something is under way, with an event loop of its own or in the
 * application's, against brokers on real sockets (tests/support/serve.h).
 */
#ifndef KRC_TESTS_TEARDOWN_H
#define KRC_TESTS_TEARDOWN_H

#include <uv.h>

#include "consumer/handle.h"
#include "tests/support/coordinator.h"
#include "tests/support/serve.h"

enum { TEARDOWN_MS = 10000 /* no test waits so long */, TEARDOWN_BATCHES = 64 };

extern struct teardown {
    struct world_topic *topic; /* "t": two partitions, with five records in the first */
    krc_config *config;        /* group.id is not set */
    krc *handle;               /* NULL: closed already */
    bool is_embedded;
    uv_loop_t loop;            /* the application's, of an embedded consumer */
    krc_batch *batches[TEARDOWN_BATCHES]; /* received and not released */
    int batch_count;
    krc_error error;
} teardown;

void teardown_begin(bool is_embedded);

/* Closes the handle.  Coordinators that are still looked for count as silent for long: each one
 * whose request is lost then would raise a note.  The application's loop has to end empty. */
void teardown_end(void);

void teardown_set(const char *name, const char *value);

/* `callbacks` are an embedded consumer's. */
int teardown_try_to_open(const struct krc_callbacks *callbacks) KRC_MUST_USE;

/* What fails here fails the test.  Batches that arrive are kept. */
void teardown_open(void);
void teardown_assign(int64_t start, int64_t until); /* opens, and assigns t-0 */
void teardown_join(bool is_classic);                /* opens, and joins group g */

/* One iteration of the consumer's event loop. */
void teardown_turn(void);

/* Until the first batch has arrived. */
void teardown_read(void);

/* Until a broker has received so many requests of an API. */
void teardown_until(enum krc_api_name api, int requests);

/* A test whose body brings something under way: the consumer is closed after it. */
#define CLOSED_DURING(name)                                       \
    static void begin_##name(void);                               \
    START_TEST(name)                                              \
    {                                                             \
        for (int embedded = 0; embedded <= 1; embedded++) {       \
            teardown_begin(embedded);                             \
            begin_##name();                                       \
            teardown_end();                                       \
        }                                                         \
    }                                                             \
    END_TEST                                                      \
    static void begin_##name(void)

#endif
