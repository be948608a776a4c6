#include "groups/membership.h"

static const struct move {
    enum krc_member_state to;
    enum krc_member_doing doing;
} moves[KRC_MEMBER_STATE_COUNT][KRC_MEMBER_EVENT_COUNT] = {
#define MOVE(in, on, to, doing) \
    [KRC_MEMBER_##in][KRC_MEMBER_ON_##on] = {KRC_MEMBER_##to, KRC_MEMBER_DO_##doing},
    KRC_MEMBER_TABLE(MOVE)
#undef MOVE
};

/* A second row for the same state and event would define the same name twice. */
enum {
#define ROW(in, on, to, doing) ROW_OF_##in##_ON_##on,
    KRC_MEMBER_TABLE(ROW)
#undef ROW
    ROWS
};

enum krc_member_doing krc_membership_step(enum krc_member_state *state,
                                          enum krc_member_event event)
{
    const struct move *move = &moves[*state][event];
    if (move->doing != KRC_MEMBER_DO_nothing)
        *state = move->to;
    return move->doing;
}

bool krc_membership_holds(enum krc_member_state state)
{
    switch (state) {
    case KRC_MEMBER_JOINING:
    case KRC_MEMBER_SYNCING:
    case KRC_MEMBER_STABLE:
    case KRC_MEMBER_YIELDING:
    case KRC_MEMBER_RETURNING:
        return true;
    default:
        return false;
    }
}

#define NAME(name, meaning) #name,

const char *krc_member_state_name(enum krc_member_state state)
{
    static const char *const names[] = {KRC_MEMBER_STATES(NAME)};
    return names[state];
}

const char *krc_member_event_name(enum krc_member_event event)
{
    static const char *const names[] = {KRC_MEMBER_EVENTS(NAME)};
    return names[event];
}
