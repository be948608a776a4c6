/*
 * The coordinator of a consumer group, for tests: what Kafka's answers to members of both
 * protocols, and other members, which a test's script drives.
 *
 * Members are called m1, m2, ... in what is told, by their places.  There is no clock here: a
 * session ends when the script says so, and a rebalance is over when all have joined, or when the
 * driver has waited for broker_patience_ms.
 *
 * Source: GroupMetadataManager, ClassicGroup, ConsumerGroup and CurrentAssignmentBuilder of Kafka
 * 4.0's group-coordinator.
 */
#ifndef KRC_TESTS_COORDINATOR_H
#define KRC_TESTS_COORDINATOR_H

#include "tests/support/broker.h"

enum { GROUP_MEMBERS = 8, GROUP_PROTOCOLS = 4 };

/* A set of the world's partitions: bit topic * WORLD_PARTITIONS + partition. */
typedef uint32_t group_parts;

struct group_member {
    bool is_there;
    bool is_scripted; /* another client's, which does what is asked of it at once... */
    bool is_stuck;    /* ...unless it hangs */
    bool is_pending;  /* it was given an id, and has not joined */
    char id[64], instance[24];
    group_parts target; /* what it is to have in the end, so that a scripted leader says */
    group_parts has;    /* what it was assigned */
    group_parts gives;  /* KIP-848: what it was told to give up, and has not yet */
    int32_t epoch, previous; /* KIP-848; -2: left for now */
    /* classic */
    bool joins, syncs; /* its request waits */
    struct {
        char name[24];
        struct krc_buffer metadata;
    } protocols[GROUP_PROTOCOLS];
    int protocol_count;
    struct krc_buffer assignment;
};

extern struct group {
    bool is_classic;
    enum { GROUP_EMPTY, GROUP_PREPARING, GROUP_COMPLETING, GROUP_STABLE } state; /* classic */
    int32_t epoch; /* the generation, or the target's epoch */
    struct group_member members[GROUP_MEMBERS]; /* m1 is the first */
    int leader;                                 /* -1: none */
    char protocol[24];
    int32_t interval_ms; /* KIP-848: of heartbeats */
    int next_id;
    /* what must not happen */
    int foreign_commits;  /* of what another member has */
    int backward_commits;
} group;

void group_open(bool is_classic);
void group_close(void);

/* "t-0 t-1 u-0"; "" for none. */
group_parts group_set(const char *text);
/* "t-0,t-1,u-0"; "-" for none.  Valid until the fourth call after. */
const char *group_text(group_parts set);

/* ---- The script ----------------------------------------------------------------------------- */

struct group_member *group_m(int number); /* m1 is 1 */

/* Another member joins, subscribed to these topics ("t u"); returns its number. */
int group_join(const char *topics);
/* A member is gone: it has left, or its session is over. */
void group_remove(int number);
/* What a member is to have; KIP-848: the group is in another epoch, classic: nothing happens until
 * a rebalance. */
void group_target(int number, const char *set);
/* A classic group is rebalanced. */
void group_rebalance(void);
/* A static member's place is taken by another client's. */
void group_take_over(int number);
/* Another broker coordinates. */
void group_move(int32_t node);

/* ---- For broker.c --------------------------------------------------------------------------- */

bool group_knows(enum krc_api_name api);
void group_describe(struct broker_request *request); /* as text, into it */
void group_take(struct broker_request *request);
bool group_has_news(const struct broker_request *request);
void group_answer(struct broker_request *request, void *response);

/* ---- Between the coordinator's files -------------------------------------------------------- */

struct group_member *group_find(struct krc_bytes id);           /* NULL */
struct group_member *group_find_instance(struct krc_bytes id); /* NULL */
struct group_member *group_add(void);
void group_forget(struct group_member *member);
const char *group_name(const struct group_member *member); /* "m1"; NULL: "?" */
int32_t group_bit(const struct world_topic *topic, int32_t partition);
void *group_take_memory(size_t count, size_t size); /* of the answer in hand */
bool group_is(const char *text, struct krc_bytes bytes);
void group_copy(char *to, size_t size, struct krc_bytes from);
void group_say(char *text, size_t size, const char *format, ...) KRC_PRINTF(3, 4);

/* Who may speak as a member: an error code, 0 for nobody's. */
int16_t group_check_member(struct krc_bytes id, struct krc_bytes instance,
                           struct group_member **member);

void group_take_join(struct broker_request *request);
void group_take_sync(struct broker_request *request);
void group_take_heartbeat(struct broker_request *request);
void group_take_leave(struct broker_request *request);
void group_answer_join(struct broker_request *request, struct krc_join_group_response *response);
void group_answer_sync(struct broker_request *request, struct krc_sync_group_response *response);
void group_join_classic(struct group_member *member, const char *topics);
void group_left_classic(void);
void group_describe_join(const struct krc_join_group_request *request, char *text, size_t size);
void group_describe_sync(const struct krc_sync_group_request *request, char *text, size_t size);

void group_tell_consumer(struct broker_request *request,
                         struct krc_consumer_group_describe_response *response);
void group_tell_classic(struct broker_request *request,
                        struct krc_describe_groups_response *response);
void group_tell_names(struct broker_request *request, struct krc_list_groups_response *response);

void group_beat(struct broker_request *request,
                struct krc_consumer_group_heartbeat_response *response);
void group_reconcile_all(void);
void group_describe_beat(const struct krc_consumer_group_heartbeat_request *request, char *text,
                         size_t size);

/* A test that is the same in both protocols: between the program's begin(is_classic) and end(). */
#define BOTH(name)                                                \
    static void name##_in(bool is_classic);                       \
    START_TEST(name)                                              \
    {                                                             \
        for (int is_classic = 0; is_classic <= 1; is_classic++) { \
            begin(is_classic);                                    \
            name##_in(is_classic);                                \
            end();                                                \
        }                                                         \
    }                                                             \
    END_TEST                                                      \
    static void name##_in(bool is_classic)

#endif
