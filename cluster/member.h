/*
 * Our membership in a consumer group: which partitions the group gives us, and when they go.
 *
 * The coordinator's answers and the application's calls become events of the membership's machine
 * (groups/membership.h); what it says is to be done is done here.  One request is under way at a
 * time: to join, for our share, or a heartbeat.
 *
 *   member.c           the machine, partitions that are held, time
 *   member_assigned.c  what is assigned
 *   member_topics.c    what is subscribed to
 *   member_consumer.c  requests and answers of KIP-848 (group.protocol=consumer)
 *   member_classic.c   of the classic protocol; roster.c makes the leader's plan
 *   group_commit.c     OffsetCommit, by a member or by nobody in particular
 *   farewell.c         what is said to leave, by a member or for one that died
 *
 * Whoever reads the partitions, their owner, looks at `held` after each change of `news`, and
 * answers: krc_member_begun for a NEW one, krc_member_let_go for one to YIELD, once it is finished
 * and committed, or one that is LOST.
 */
#ifndef KRC_CLUSTER_MEMBER_H
#define KRC_CLUSTER_MEMBER_H

#include "base/pattern.h"
#include "cluster/farewell.h"
#include "groups/membership.h"

struct krc_assignor;
enum { KRC_ASSIGNORS_MOST = 4 };

/* The properties of the same names (docs/configuration.md); "" for none. */
struct krc_member_settings {
    const char *group, *instance_id, *rack, *server_assignor;
    bool is_classic;
    bool exclude_internal_topics; /* classic; else the brokers do */
    const struct krc_assignor *assignors[KRC_ASSIGNORS_MOST]; /* classic, the preferred first */
    int assignor_count;
    int64_t session_timeout_ms, heartbeat_interval_ms; /* classic; else the coordinator says */
    int64_t max_poll_interval_ms; /* also how long others wait for us in a rebalance */
};

enum krc_held_phase {
    KRC_HELD_NEW,   /* to be begun */
    KRC_HELD_OURS,
    KRC_HELD_YIELD, /* to be finished, and given up */
    KRC_HELD_LOST,  /* to be dropped: nothing of it can be committed any more */
};

struct krc_held {
    struct krc_topic *topic;
    int32_t partition;
    enum krc_held_phase phase;
    bool seen;        /* the owner's: it knows that it is to let go */
    bool is_assigned; /* by the assignment that was looked at last */
    uint64_t number;  /* of all that were ever given to us: another time, another one */
};

/* A partition in an assignment. */
struct krc_assigned {
    char *name;           /* classic; NULL */
    struct krc_uuid id;   /* KIP-848 */
    struct krc_topic *topic; /* NULL: metadata does not have it yet */
    int32_t partition;
};

struct krc_membership {
    struct krc_cluster *cluster;
    struct krc_member_settings settings;
    struct krc_coordinator *coordinator;
    enum krc_member_state state;
    char **topics; /* subscribed to, sorted */
    size_t topic_count;
    krc_pattern **patterns; /* topics that match one are added as metadata brings them */
    size_t pattern_count;
    char *member_id;
    int32_t epoch; /* the member's, or the classic generation */

    struct krc_held *held; /* sorted by topic and partition */
    size_t held_count;
    uint64_t given; /* how many ever were */
    uint64_t news;                 /* counts what an owner has to look at */
    uint64_t losses;               /* counts when all that was held was lost */
    struct krc_assigned *assigned; /* the newest assignment */
    size_t assigned_count, unresolved;
    uint64_t resolved_at; /* the metadata's generation */

    struct krc_call call;          /* the request that is under way */
    enum krc_member_event event;   /* that its answer means; _EVENT_COUNT: none */
    struct krc_arena arena;        /* what the request is put together from */
    union {
        struct krc_consumer_group_heartbeat_request consumer;
        struct krc_join_group_request join;
        struct krc_sync_group_request sync;
        struct krc_heartbeat_request beat;
    } request;
    struct krc_farewell farewell; /* the request to leave... */
    char *farewell_id;            /* ...as who */

    int64_t beat_ms;     /* the next heartbeat, or attempt */
    int64_t interval_ms; /* of heartbeats */
    struct krc_backoff backoff;
    int64_t polled_ms;   /* when the application came last */
    bool tells_all;      /* KIP-848: the next heartbeat repeats what was said before */
    bool tells_held;     /* and says what is held */
    bool told_waiting;   /* that a static member's predecessor is waited for */
    bool told_late;      /* that the application came too late */

    /* classic */
    const struct krc_assignor *assignor; /* that the member has chosen; NULL: none yet */
    struct krc_roster *roster; /* the leader's (cluster/roster.h); NULL: we are not */
    bool skips_assignment;     /* which keeps the assignments as they are, after it came back */
    struct krc_buffer bytes;   /* our subscriptions, or the assignments that we send */

    int16_t last_error; /* of the last answer */
    struct krc_stall stall;
    int16_t error_code; /* REFUSED: the coordinator's... */
    char why[300];      /* ...and a sentence */
};

/* `settings` and what they point to have to stay.  Topics: krc_member_subscribe. */
int krc_member_open(struct krc_membership **member, struct krc_cluster *cluster,
                   const struct krc_member_settings *settings, krc_error *error) KRC_MUST_USE;

/* Without a word to the coordinator (krc_member_leave). */
void krc_member_close(struct krc_membership *member);

/* A topic's name, or what matches `topic` where that begins with a ^ (base/pattern.h).
 * KRC_E_INVALID: it is no regular expression. */
int krc_member_subscribe(struct krc_membership *member, const char *topic,
                         krc_error *error) KRC_MUST_USE;

/* Whether it waits for the group, and for what. */
bool krc_member_is_stalled(const struct krc_membership *member, char *why, size_t size);

/* Asks to be taken in; the topics are subscribed to. */
void krc_member_join(struct krc_membership *member);

/* Leaves, at once; what was held is lost to us, and krc_member_has_left says when the coordinator
 * knows.  A static member's partitions wait for it to come again. */
void krc_member_leave(struct krc_membership *member);
bool krc_member_has_left(const struct krc_membership *member);

/* Another answer than a heartbeat's has said that we are no member any more (`error_code`), or we
 * do as if: all that is held is lost, and we join as somebody else; but where another one has our
 * group.instance.id, we do not. */
void krc_member_fenced(struct krc_membership *member, int16_t error_code);

/* The application is there, and not stuck in its work. */
void krc_member_polled(struct krc_membership *member);

struct krc_held *krc_member_find(const struct krc_membership *member, const struct krc_topic *topic,
                                int32_t partition);
/* Whether it may be committed. */
bool krc_member_holds(const struct krc_membership *member, const struct krc_topic *topic,
                      int32_t partition);
void krc_member_begun(struct krc_held *held);
void krc_member_let_go(struct krc_membership *member, struct krc_held *held); /* it is gone then */

/* The next heartbeat is due now: the coordinator has news. */
void krc_member_hurry(struct krc_membership *member);

/* REFUSED: why. */
int krc_member_explain(const struct krc_membership *member, krc_error *error);

/* What is due; the next time. */
int64_t krc_member_tick(struct krc_membership *member);

static inline struct krc_bytes krc_bytes_or_null(const char *text)
{
    return text == NULL || text[0] == '\0' ? (struct krc_bytes){NULL, 0} : krc_bytes_of(text);
}

#endif
