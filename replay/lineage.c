#include "replay/lineage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "krc1", magic_cut[] = "krc1 ...";

/* ---- The text ------------------------------------------------------------------------------- */

static bool read_stretch(const char **text, struct krc_stretch *stretch)
{
    int len = 0;
    if (sscanf(*text, " %16[0-9a-f]@%" SCNd64 "%n", stretch->sink, &stretch->from, &len) < 2 ||
        len == 0 || strlen(stretch->sink) != KRC_SINK_ID || stretch->from < 0)
        return false;
    *text += len;
    return true;
}

void krc_lineage_read(struct krc_lineage *lineage, const char *text)
{
    *lineage = (struct krc_lineage){.count = 0};
    if (text == NULL || strncmp(text, magic, sizeof magic - 1) != 0)
        return;
    lineage->is_cut = strncmp(text, magic_cut, sizeof magic_cut - 1) == 0;
    text += lineage->is_cut ? sizeof magic_cut - 1 : sizeof magic - 1;
    while (lineage->count < KRC_LINEAGE_MOST &&
           read_stretch(&text, &lineage->stretches[lineage->count]))
        lineage->count++;
    if (*text != '\0') /* not what we wrote */
        *lineage = (struct krc_lineage){.count = 0};
}

char *krc_lineage_write(const struct krc_lineage *lineage)
{
    enum { ENTRY = KRC_SINK_ID + 24 };
    char *text = malloc(sizeof magic_cut + (size_t)lineage->count * ENTRY);
    if (text == NULL)
        return NULL;
    char *at = stpcpy(text, lineage->is_cut ? magic_cut : magic);
    for (int i = 0; i < lineage->count; i++)
        at += sprintf(at, " %s@%" PRId64, lineage->stretches[i].sink, lineage->stretches[i].from);
    return text;
}

/* ---- Stretches ------------------------------------------------------------------------------ */

const struct krc_stretch *krc_lineage_last(const struct krc_lineage *lineage)
{
    return lineage->count == 0 ? NULL : &lineage->stretches[lineage->count - 1];
}

static bool is_of(const struct krc_stretch *stretch, const char *sink, int64_t from)
{
    return stretch != NULL && stretch->from == from && strcmp(stretch->sink, sink) == 0;
}

void krc_lineage_add(struct krc_lineage *lineage, const char *sink, int64_t from)
{
    if (is_of(krc_lineage_last(lineage), sink, from))
        return;
    if (lineage->count == KRC_LINEAGE_MOST) {
        memmove(lineage->stretches, lineage->stretches + 1,
                (KRC_LINEAGE_MOST - 1) * sizeof *lineage->stretches);
        lineage->count--;
        lineage->is_cut = true;
    }
    struct krc_stretch *last = &lineage->stretches[lineage->count++];
    last->from = from;
    snprintf(last->sink, sizeof last->sink, "%s", sink);
}

static int64_t end_of(const struct krc_lineage *lineage, int i, int64_t committed)
{
    return i + 1 < lineage->count ? lineage->stretches[i + 1].from : committed;
}

/* Where the stretch ends that the sink began there; -1: it is not told of. */
static int64_t find_end(const struct krc_lineage *lineage, const char *sink, int64_t from,
                        int64_t committed)
{
    for (int i = lineage->count - 1; i >= 0; i--)
        if (is_of(&lineage->stretches[i], sink, from))
            return end_of(lineage, i, committed);
    return -1;
}

int64_t krc_lineage_reach(const struct krc_lineage *lineage, const char *sink, int64_t committed)
{
    for (int i = lineage->count - 1; i >= 0; i--)
        if (strcmp(lineage->stretches[i].sink, sink) == 0)
            return end_of(lineage, i, committed);
    return -1;
}

const struct krc_stretch *krc_lineage_owner(const struct krc_lineage *lineage, int64_t offset,
                                            int64_t committed)
{
    for (int i = lineage->count - 1; i >= 0; i--)
        if (lineage->stretches[i].from <= offset)
            return offset < end_of(lineage, i, committed) ? &lineage->stretches[i] : NULL;
    return NULL;
}

/* A stretch of which no commit was taken is in no lineage: the group is still where it began, or
 * somebody else has begun there, or behind it, where that was the group's begin. */
static bool was_never_taken(const struct krc_lineage *lineage, int64_t committed, int64_t stretch)
{
    bool covered = lineage->count > 0 && !lineage->is_cut;
    for (int i = 0; i < lineage->count; i++)
        covered |= lineage->stretches[i].from <= stretch;
    return committed == stretch || (committed > stretch && covered);
}

enum krc_verdict_on_commit krc_lineage_judge(const struct krc_lineage *lineage, int64_t committed,
                                             const char *sink, int64_t stretch, int64_t from,
                                             int64_t to)
{
    int64_t end = find_end(lineage, sink, stretch, committed);
    bool was_first = from <= stretch; /* commit of its stretch */
    if (end >= to)
        return KRC_TAKEN;
    if (end >= 0)
        return end == from ? KRC_NOT_TAKEN : KRC_UNDECIDABLE;
    if (committed < 0)
        return from < 0 ? KRC_NOT_TAKEN : KRC_UNDECIDABLE;
    bool was_not = was_first ? was_never_taken(lineage, committed, stretch) : committed == from;
    return was_not ? KRC_NOT_TAKEN : KRC_UNDECIDABLE;
}
