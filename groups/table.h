/*
 * The table of group membership, to be read aloud: in state IN, on event ON, go to TO, doing DOING.
 * What is not here does not happen.  One table for both of Kafka's protocols: a classic member asks
 * to JOIN and then for its share (SYNC), one of KIP-848 does both with a heartbeat.
 *
 * "Give up" means that the owner of the partitions finishes and commits before it lets go; "drop",
 * that they are somebody else's already, and nothing may be committed any more.
 */
#ifndef KRC_GROUPS_TABLE_H
#define KRC_GROUPS_TABLE_H

#define KRC_MEMBER_STATES(X)                                                                  \
    X(OUT, "not in the group, and not about to be")                                           \
    X(JOINING, "the coordinator is asked to take us in, or to let us go on")                  \
    X(SYNCING, "a classic member: asks for its share of this generation")                     \
    X(STABLE, "holds what it was assigned")                                                   \
    X(YIELDING, "some of what it holds goes to others, and is being given up")                \
    X(RETURNING, "all that it holds is being given up, before it joins again")                \
    X(DROPPING, "what it held is lost, and being let go, before it joins again")              \
    X(AWAY, "the application has not come for too long: it has left, until that does")        \
    X(REFUSED, "the coordinator will not have it")

#define KRC_MEMBER_EVENTS(X)                                                                  \
    X(JOIN, "the application wants to be in the group")                                       \
    X(ACCEPTED, "a classic member: JoinGroup was answered with a generation")                 \
    X(NAMED, "a classic member: it was given an id, to join again under")                     \
    X(ASSIGNED, "an assignment came that takes nothing away")                                 \
    X(REVOKED, "an assignment came that takes something away")                                \
    X(REBALANCE, "a classic group begins another generation, in which we keep what we hold")  \
    X(REBALANCE_EAGER, "the same, before which all that is held has to be given up")          \
    X(GIVEN_UP, "what was to be given up is")                                                 \
    X(GIVEN_UP_TO_JOIN, "the same of a classic member, which has to join again then")         \
    X(DROPPED, "what was lost is let go")                                                     \
    X(FENCED, "the coordinator knows us no more: what we held may be somebody else's")        \
    X(LATE, "the application has not come for max.poll.interval.ms")                          \
    X(BACK, "the application has come again")                                                 \
    X(DENIED, "an error that joining again would not cure")                                   \
    X(LEAVE, "the application wants to leave the group")

/* clang-format off */
/* T(IN,       ON,               TO,        DOING)                                            */
#define KRC_MEMBER_TABLE(T)                                                                     \
  T(OUT,       JOIN,             JOINING,   join)                                               \
                                                                                                \
  T(JOINING,   NAMED,            JOINING,   join)                                               \
  T(JOINING,   ACCEPTED,         SYNCING,   sync)                                               \
  T(JOINING,   ASSIGNED,         STABLE,    share)                                              \
  T(JOINING,   REVOKED,          YIELDING,  share)                                              \
  T(JOINING,   REBALANCE,        JOINING,   join)                                               \
  T(JOINING,   REBALANCE_EAGER,  JOINING,   join)                                               \
                                                                                                \
  T(SYNCING,   ASSIGNED,         STABLE,    share)                                              \
  T(SYNCING,   REVOKED,          YIELDING,  share)                                              \
  T(SYNCING,   REBALANCE,        JOINING,   join)                                               \
  T(SYNCING,   REBALANCE_EAGER,  JOINING,   join)                                               \
                                                                                                \
  T(STABLE,    ASSIGNED,         STABLE,    share)                                              \
  T(STABLE,    REVOKED,          YIELDING,  share)                                              \
  T(STABLE,    REBALANCE,        JOINING,   join)                                               \
  T(STABLE,    REBALANCE_EAGER,  RETURNING, give_up_all)                                        \
                                                                                                \
  T(YIELDING,  ASSIGNED,         YIELDING,  share)                                              \
  T(YIELDING,  REVOKED,          YIELDING,  share)                                              \
  T(YIELDING,  REBALANCE,        YIELDING,  go_on)                                              \
  T(YIELDING,  REBALANCE_EAGER,  RETURNING, give_up_all)                                        \
  T(YIELDING,  GIVEN_UP,         STABLE,    tell)                                               \
  T(YIELDING,  GIVEN_UP_TO_JOIN, JOINING,   join)                                               \
                                                                                                \
  T(RETURNING, REBALANCE,        RETURNING, go_on)                                              \
  T(RETURNING, REBALANCE_EAGER,  RETURNING, go_on)                                              \
  T(RETURNING, GIVEN_UP_TO_JOIN, JOINING,   join)                                               \
                                                                                                \
  T(DROPPING,  DROPPED,          JOINING,   join_anew)                                          \
  T(DROPPING,  LEAVE,            OUT,       leave)                                              \
  T(AWAY,      BACK,             DROPPING,  go_on)                                              \
  T(AWAY,      LEAVE,            OUT,       go_on)                                              \
  T(REFUSED,   LEAVE,            OUT,       go_on)                                              \
                                                                                                \
  KRC_MEMBER_TABLE_OF_MEMBERS(T, JOINING)                                                       \
  KRC_MEMBER_TABLE_OF_MEMBERS(T, SYNCING)                                                       \
  KRC_MEMBER_TABLE_OF_MEMBERS(T, STABLE)                                                        \
  KRC_MEMBER_TABLE_OF_MEMBERS(T, YIELDING)                                                      \
  KRC_MEMBER_TABLE_OF_MEMBERS(T, RETURNING)

/* Whoever is in the group, or on the way, can be sent away, come too late, and leave. */
#define KRC_MEMBER_TABLE_OF_MEMBERS(T, STATE)                                                   \
  T(STATE,     FENCED,           DROPPING,  drop_all)                                           \
  T(STATE,     DENIED,           REFUSED,   drop_all)                                           \
  T(STATE,     LATE,             AWAY,      leave)                                              \
  T(STATE,     LEAVE,            OUT,       leave)
/* clang-format on */

#endif
