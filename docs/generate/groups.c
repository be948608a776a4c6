/*
 * Prints docs/groups.md from the table of group membership.
 */
#include "docs/generate/sentences.h"
#include "groups/membership.h"

static const struct sentence table[] = {
#define SENTENCE(in, on, to, doing) {#in, #on, #to, #doing},
    KRC_MEMBER_TABLE(SENTENCE)
#undef SENTENCE
};

enum { SENTENCES = sizeof table / sizeof *table };

static void introduction(void)
{
    puts("# Membership in a group\n\n<!-- Printed from groups/table.h by `make docs`; not to be "
         "edited. -->\n\nA member of a consumer group is `krc_membership_step(state, event)` "
         "without I/O, clock or allocation\n(`groups/membership.h`); `cluster/member.c` drives it. "
         "What is not in the table does not happen: such an\nevent changes nothing.\n\n"
         "Both of Kafka's protocols go through the same table.\n\n"
         "- KIP-848 (`group.protocol=consumer`): every request is a ConsumerGroupHeartbeat. JOINING "
         "sends one with\n  epoch 0; an answer with an assignment is ASSIGNED or REVOKED, and what "
         "was revoked is given up before\n  the heartbeat that says what is held now (`tell`). "
         "UNKNOWN_MEMBER_ID and FENCED_MEMBER_EPOCH are\n  FENCED. LEAVE and LATE send epoch -1, a "
         "static member's -2.\n"
         "- classic: JOINING sends JoinGroup, SYNCING SyncGroup, the others Heartbeat. "
         "MEMBER_ID_REQUIRED is NAMED,\n  REBALANCE_IN_PROGRESS is REBALANCE, or REBALANCE_EAGER "
         "where one of our assignors is not cooperative;\n  UNKNOWN_MEMBER_ID and "
         "ILLEGAL_GENERATION are FENCED. LEAVE and LATE send LeaveGroup, but for a static\n  "
         "member.\n\n"
         "An error that asking again may cure leaves the state as it is: the request is made again, "
         "to whoever is\nthe coordinator then. Any other is DENIED.\n");
}

static void states(void)
{
    puts("## States\n\nWhat is held is ours to commit in the states marked so.\n\n"
         "| state | ours | meaning |\n|---|---|---|");
#define STATE(name, meaning)                                                               \
    printf("| %s | %s | %s |\n", #name, krc_membership_holds(KRC_MEMBER_##name) ? "yes" : "", \
           meaning);
    KRC_MEMBER_STATES(STATE)
#undef STATE
}

static void events(void)
{
    puts("\n## Events\n\n| event | meaning |\n|---|---|");
#define EVENT(name, meaning) printf("| %s | %s |\n", #name, meaning);
    KRC_MEMBER_EVENTS(EVENT)
#undef EVENT
}

static bool holds(const char *state)
{
    for (int i = 0; i < KRC_MEMBER_STATE_COUNT; i++)
        if (strcmp(krc_member_state_name((enum krc_member_state)i), state) == 0)
            return krc_membership_holds((enum krc_member_state)i);
    return false;
}

/* What can happen to each member. */
static bool is_everywhere(const struct sentence *s)
{
    static const char *const events[] = {"FENCED", "DENIED", "LATE", "LEAVE"};
    for (size_t i = 0; holds(s->in) && i < sizeof events / sizeof *events; i++)
        if (strcmp(s->on, events[i]) == 0)
            return true;
    return false;
}

static void diagram(void)
{
    puts("\n## Diagram\n\nFENCED (to DROPPING), DENIED (to REFUSED), LATE (to AWAY) and LEAVE (to "
         "OUT), which are possible wherever\nwhat is held is ours, are left out.\n\n```mermaid\n"
         "stateDiagram-v2\n    [*] --> OUT");
    print_arrows(table, SENTENCES, is_everywhere);
}

int main(void)
{
    introduction();
    states();
    events();
    print_table(table, SENTENCES);
    diagram();
    return 0;
}
