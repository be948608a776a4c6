/*
 * Membership in a group, as a state machine: krc_membership_step(state, event) says where to, and
 * what is to be done.  No I/O, no clock, no memory; the table (groups/table.h) is the only place
 * where the state changes, and what happened picks the event's name.  cluster/member.c drives it.
 */
#ifndef KRC_GROUPS_MEMBERSHIP_H
#define KRC_GROUPS_MEMBERSHIP_H

#include "base/error.h"
#include "groups/table.h"

enum krc_member_state {
#define KRC_MEMBER_STATE_ENUM(name, meaning) KRC_MEMBER_##name,
    KRC_MEMBER_STATES(KRC_MEMBER_STATE_ENUM)
#undef KRC_MEMBER_STATE_ENUM
    KRC_MEMBER_STATE_COUNT
};

enum krc_member_event {
#define KRC_MEMBER_EVENT_ENUM(name, meaning) KRC_MEMBER_ON_##name,
    KRC_MEMBER_EVENTS(KRC_MEMBER_EVENT_ENUM)
#undef KRC_MEMBER_EVENT_ENUM
    KRC_MEMBER_EVENT_COUNT
};

/* The table's last column. */
enum krc_member_doing {
    KRC_MEMBER_DO_nothing, /* no row: an illegal move */
    KRC_MEMBER_DO_go_on,
    KRC_MEMBER_DO_join,      /* ask to be taken in, as who we are */
    KRC_MEMBER_DO_join_anew, /* as somebody new */
    KRC_MEMBER_DO_sync,
    KRC_MEMBER_DO_share, /* begin what is assigned and not held, give up what is held and not
                            assigned */
    KRC_MEMBER_DO_tell,  /* the coordinator what is held now */
    KRC_MEMBER_DO_give_up_all,
    KRC_MEMBER_DO_drop_all,
    KRC_MEMBER_DO_leave, /* and drop all */
};

/* Moves, and returns what is to be done; KRC_MEMBER_DO_nothing leaves the state as it was. */
enum krc_member_doing krc_membership_step(enum krc_member_state *state,
                                          enum krc_member_event event);

/* Whether what is held is ours to commit. */
bool krc_membership_holds(enum krc_member_state state);

const char *krc_member_state_name(enum krc_member_state state);
const char *krc_member_event_name(enum krc_member_event event);

#endif
