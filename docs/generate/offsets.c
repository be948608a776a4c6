/*
 * Prints docs/offsets.md from the state machine's table.
 */
#include "docs/generate/sentences.h"
#include "offsets/offsets.h"

static const struct sentence table[] = {
#define SENTENCE(in, on, to, doing) {#in, #on, #to, #doing},
    KRC_OFFSET_TABLE(SENTENCE)
#undef SENTENCE
};

enum { SENTENCES = sizeof table / sizeof *table };

static void states(void)
{
    puts("## States\n\n| state | meaning |\n|---|---|");
#define STATE(name, meaning) printf("| %s | %s |\n", #name, meaning);
    KRC_OFFSET_STATES(STATE)
#undef STATE
}

static void events(void)
{
    puts("\n## Events\n\nAn event that answers a question (`ASK`) carries the number of that "
         "question, one about offsets\nthat were handed on (`STRETCH`) the number of the stretch "
         "they belong to; where that is not the present\none, the event came too late and is a "
         "counted no-op.\n\n| event | belongs to | meaning |\n|---|---|---|");
#define EVENT(name, match, meaning) \
    printf("| %s | %s | %s |\n", #name, strcmp(#match, "NOTHING") ? #match : "", meaning);
    KRC_OFFSET_EVENTS(EVENT)
#undef EVENT
}

/* What is possible in every state: seeking, letting go, acknowledging. */
static bool is_everywhere(const struct sentence *s)
{
    return strcmp(s->on, "ACK") == 0 || strcmp(s->on, "COMMITTED") == 0 ||
           strcmp(s->on, "UNASSIGN") == 0 ||
           (strncmp(s->on, "ASSIGN_", 7) == 0 && strcmp(s->in, "UNASSIGNED") != 0);
}

static void diagram(void)
{
    puts("\n## Diagram\n\nSeeks (`ASSIGN_`), `UNASSIGN`, `ACK` and `COMMITTED`, which are possible "
         "wherever a partition is\nassigned, are left out.\n\n```mermaid\nstateDiagram-v2\n"
         "    [*] --> UNASSIGNED");
    print_arrows(table, SENTENCES, is_everywhere);
}

int main(void)
{
    puts("# The offset-tracking state machine\n\n<!-- Printed from offsets/table.h by `make docs`; "
         "not to be edited. -->\n\nEach partition that is read is one small struct, and "
         "`krc_offsets_step(machine, event) → update`\nwithout I/O, clock or allocation "
         "(`offsets/offsets.h`). What is not in the table does not happen: such an\nevent fails the "
         "partition with `KRC_E_STATE`. `make model` walks every reachable state of it over a "
         "small\nlog that grows, shrinks, is truncated, changes leader and is made again.\n");
    states();
    events();
    print_table(table, SENTENCES);
    diagram();
    return 0;
}
