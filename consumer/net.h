/*
 * A cluster with its driver, and the calls that wait for it.
 */
#ifndef KRC_CONSUMER_NET_H
#define KRC_CONSUMER_NET_H

#include "consumer/config_security.h"
#include "consumer/loop.h"

struct krc_net {
    struct krc_cluster cluster;
    struct krc_loop *loop;
    const krc_config *config;
    struct krc_security security;
    struct krc_tls_context *tls; /* NULL: none */
    int64_t last_ms; /* until when an answer is waited for though the application wants an end;
                        INT64_MAX: it does not */
    struct krc_listed {          /* where krc_source_partition found the last one: */
        size_t topic, first;     /* the topic, and the number of its first partition, */
        size_t topic_count;      /* as long as there are so many topics, */
        uint64_t changes;        /* and that says the same */
    } listed;
};

/* On a loop of its own, or the application's (consumer/loop.h).  Nothing is sent yet.
 * `note` is told what is to be known about a topic ("": none). */
int krc_net_open(struct krc_net **net, const krc_config *config, struct uv_loop_s *uv,
                 bool (*turn)(void *arg),
                 void (*note)(void *arg, const char *topic, const char *text), void *arg,
                 krc_error *error) KRC_MUST_USE;
void krc_net_close(struct krc_net *net);

/* KRC_E_REFUSED: a broker has denied us, or is not who it should be; each time it is told once. */
int krc_net_check(struct krc_net *net, krc_error *error) KRC_MUST_USE;

/*
 * Asks for metadata, and waits: of these topics, or of all where there are none named.  From then
 * on they are kept up to date.
 * KRC_E_NOT_FOUND: the cluster has no such topic.  KRC_E_REFUSED.  KRC_E_TIMEOUT: not within
 * default.api.timeout.ms.  KRC_E_IO: each server is out of reach, or is none.
 */
int krc_net_load_topics(struct krc_net *net, const char *const *names, size_t count,
                        krc_error *error) KRC_MUST_USE;

/* One turn of a call that waits; KRC_E_TIMEOUT or KRC_E_IO, with `what` said: no use to wait on.
 * KRC_E_INTERRUPTED: the application wants an end. */
int krc_net_wait(struct krc_net *net, int64_t deadline_ms, const char *what,
                 krc_error *error) KRC_MUST_USE;

/* The same of what is to be finished all the same, a commit or a farewell, as long as answers come
 * within some seconds: krc_net_finished says that one has. */
int krc_net_finish(struct krc_net *net, int64_t deadline_ms, const char *what,
                   krc_error *error) KRC_MUST_USE;
void krc_net_finished(struct krc_net *net);

/* Until when the loop may wait, so that it is seen in time whether the application wants an end. */
int64_t krc_net_look_ms(const struct krc_net *net, int64_t deadline_ms);

/* KRC_E_INTERRUPTED, where it does; `what` did not happen. */
int krc_net_check_interrupt(struct krc_net *net, const char *what, krc_error *error) KRC_MUST_USE;

/* Makes a call, and waits until it is told; it is dropped then.  Its error is its own (`rc`). */
int krc_net_call(struct krc_net *net, struct krc_call *call, krc_error *error) KRC_MUST_USE;

/* Commits, and waits for the answer: errors as of the commit's call (cluster/group_commit.h). */
struct krc_group_commit;
int krc_net_commit(struct krc_net *net, struct krc_group_commit *commit,
                   krc_error *error) KRC_MUST_USE;

/* The same of one partition to group.id, by nobody, or as the member that we are: then KRC_E_IO is
 * that it is not known whether it was, or will be, committed; krc_net_expel ends that. */
struct krc_commit_entry;
int krc_net_commit_one(struct krc_net *net, struct krc_commit_entry *entry,
                       krc_error *error) KRC_MUST_USE;

/* Begins to join group.id, for these topics (or one that begins with a ^). */
int krc_net_join(struct krc_net *net, const char *const *topics, size_t count,
                 krc_error *error) KRC_MUST_USE;

/* krc_member_leave was called: waits until the coordinator knows. */
int krc_net_wait_left(struct krc_net *net, int64_t deadline_ms, krc_error *error) KRC_MUST_USE;

/* Has a member leave group.id, be it gone already: nothing is taken any more that it has under way.
 * Errors as of krc_net_call. */
int krc_net_expel(struct krc_net *net, const char *member_id, bool is_classic,
                  krc_error *error) KRC_MUST_USE;

/* What group.id has committed of partitions whose topics are known, behind all that is under way at
 * its coordinator.  KRC_E_UNSUPPORTED: that does not tell. */
struct krc_net_committed {
    struct krc_topic *topic;
    int32_t partition;
    int64_t offset;           /* -1: nothing */
    int32_t epoch;            /* -1: not known */
    struct krc_uuid topic_id; /* that it was told by; all zero: by name */
    char *metadata;           /* to be freed; NULL: none */
};
int krc_net_fetch_committed(struct krc_net *net, struct krc_net_committed *list, size_t count,
                            krc_error *error) KRC_MUST_USE;

/* Learns the eligible leaders of the topics that are known. */
int krc_net_describe(struct krc_net *net, krc_error *error) KRC_MUST_USE;

/* Puts questions, whose `topic` is known, and waits for all answers.  An error of one of them
 * stays with it, as KRC_E_TIMEOUT does where others were answered. */
int krc_net_ask(struct krc_net *net, struct krc_question *questions, size_t count,
                krc_error *error) KRC_MUST_USE;

#endif
