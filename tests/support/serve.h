/*
 * Serves the brokers of tests/support/world.h on loopback sockets, in a thread of its own, for what
 * can only be shown with real ones: the public interface, and whole programs.
 */
#ifndef KRC_TESTS_SERVE_H
#define KRC_TESTS_SERVE_H

#include "tests/support/broker.h"

/* The world is open.  Its nodes listen on ports of their own, which metadata then tells. */
void serve_begin(void);
void serve_end(void);

/* "127.0.0.1:PORT" of node 1; valid until serve_end. */
const char *serve_address(void);

/* Between these the world may be looked at and changed. */
void serve_lock(void);
void serve_unlock(void);

/* How many requests of an API came. */
int serve_requests(enum krc_api_name api);

/* What is done for an API is not told for a while; KRC_API_COUNT: all is again. */
void serve_hold(enum krc_api_name api);

/* The next requests of an API, or the next answer, are lost, and the connection ends each time. */
void serve_lose(enum krc_api_name api, int times);
void serve_lose_answer(enum krc_api_name api);

/* Ends all connections. */
void serve_drop(void);

/* The same as of a broker that is gone: what is sent to them is answered with a reset.  Returns
 * when it is done. */
void serve_reset(void);

#endif
