/*
 * The driver: carries bytes and time between a cluster and libuv.  The only file that includes
 * uv.h is loop.c.
 */
#ifndef KRC_CONSUMER_LOOP_H
#define KRC_CONSUMER_LOOP_H

#include "cluster/cluster.h"

struct uv_loop_s;
struct krc_loop;

extern const struct krc_io_ops krc_loop_io;

/* On a loop of its own (`uv` NULL), or on the application's, where `turn` is called after each of
 * its turns, and returns whether it wants another one soon.  The cluster's io_arg is the loop. */
int krc_loop_open(struct krc_loop **loop, struct uv_loop_s *uv, struct krc_cluster *cluster,
                  bool (*turn)(void *arg), void *arg, krc_error *error) KRC_MUST_USE;

/* Ends all it does; after the cluster was closed.  An application's loop has to run on for a
 * moment, until `closed` is called. */
void krc_loop_close(struct krc_loop *loop, void (*closed)(void *arg), void *arg);

/* Its own loop: carries what there is, and waits until the deadline, or until something has come;
 * INT64_MAX: for ever.  For records it does not wait where some are ready to be read. */
void krc_loop_turn(struct krc_loop *loop, int64_t deadline_ms, bool for_records);

static inline void krc_loop_run(struct krc_loop *loop, int64_t deadline_ms)
{
    krc_loop_turn(loop, deadline_ms, true);
}

/* For anything else: that there are records is no reason not to wait. */
static inline void krc_loop_wait(struct krc_loop *loop, int64_t deadline_ms)
{
    krc_loop_turn(loop, deadline_ms, false);
}

/* The clock of it, which never goes back. */
int64_t krc_loop_now_ms(void);

/* Ends a wait; from any thread, and from a signal handler. */
void krc_loop_wake(struct krc_loop *loop);

/* `work` in a thread of libuv's pool, then `done` here. */
int krc_loop_work(struct krc_loop *loop, void (*work)(void *arg), void (*done)(void *arg),
                  void *arg, krc_error *error) KRC_MUST_USE;

/* All connections are to be TLS (NULL: none), and OAUTHBEARER's tokens come from there (NULL: they
 * are not needed).  Both have to stay until the loop is closed. */
struct krc_tls_context;
struct krc_token_source;
void krc_loop_secure(struct krc_loop *loop, struct krc_tls_context *tls,
                     const struct krc_token_source *token);

/* How large the system's buffers of each connection are, in bytes; -1: its own choice. */
void krc_loop_buffers(struct krc_loop *loop, int64_t send_bytes, int64_t receive_bytes);

#endif
