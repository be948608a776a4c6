/*
 * What the pages of state machines have in common: the table, and a diagram with one arrow from a
 * state to another.
 */
#ifndef KRC_DOCS_SENTENCES_H
#define KRC_DOCS_SENTENCES_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct sentence {
    const char *in, *on, *to, *doing;
};

/* What is possible so widely that it is left out of the diagram. */
typedef bool is_everywhere_fn(const struct sentence *sentence);

static inline void print_table(const struct sentence *table, int count)
{
    puts("\n## Table\n\n| in | on | to | doing |\n|---|---|---|---|");
    for (int i = 0; i < count; i++)
        printf("| %s | %s | %s | `%s` |\n", table[i].in, table[i].on, table[i].to, table[i].doing);
}

static inline bool same_arrow(const struct sentence *a, const struct sentence *b,
                              is_everywhere_fn *is_everywhere)
{
    return strcmp(a->in, b->in) == 0 && strcmp(a->to, b->to) == 0 && !is_everywhere(a) &&
           !is_everywhere(b);
}

static inline bool drawn_before(const struct sentence *table, int i,
                                is_everywhere_fn *is_everywhere)
{
    for (int k = 0; k < i; k++)
        if (same_arrow(&table[k], &table[i], is_everywhere))
            return true;
    return false;
}

/* All events that lead from one state to another, on one arrow; then the diagram's end. */
static inline void print_arrows(const struct sentence *table, int count,
                                is_everywhere_fn *is_everywhere)
{
    for (int i = 0; i < count; i++) {
        if (is_everywhere(&table[i]) || drawn_before(table, i, is_everywhere))
            continue;
        printf("    %s --> %s: ", table[i].in, table[i].to);
        for (int k = i; k < count; k++)
            if (same_arrow(&table[k], &table[i], is_everywhere))
                printf("%s%s", k == i ? "" : "<br/>", table[k].on);
        puts("");
    }
    puts("```");
}

#endif
