/*
 * Who has written what of a partition that several sinks share, each with a folder of its own, as
 * members of one group.  It goes with each committed offset, as its metadata:
 *
 *     krc1 SINK@OFFSET SINK@OFFSET ...
 *
 * Each entry is a stretch: the sink (16 hexadecimal digits) that took the partition over at that
 * offset, and had it until the next entry's; the last one has it up to the committed offset.  So a
 * sink that died before it heard whether its last commit was taken can find out later, however far
 * others have come by then.  Where the first entry is not where the group began, "..." stands before
 * it.
 */
#ifndef KRC_REPLAY_LINEAGE_H
#define KRC_REPLAY_LINEAGE_H

#include <krc.h>

enum { KRC_SINK_ID = 16, KRC_LINEAGE_MOST = 64 }; /* so many newest entries are kept */

struct krc_lineage {
    struct krc_stretch {
        char sink[KRC_SINK_ID + 1];
        int64_t from;
    } stretches[KRC_LINEAGE_MOST];
    int count;
    bool is_cut; /* there were older ones, or others who do not say what they had */
};

/* What a committed offset's metadata says; of another text: nothing. */
void krc_lineage_read(struct krc_lineage *lineage, const char *text);

/* The text, to be freed; NULL: out of memory. */
char *krc_lineage_write(const struct krc_lineage *lineage);

/* The sink takes over at `from`; nothing new where it has the last stretch, from there. */
void krc_lineage_add(struct krc_lineage *lineage, const char *sink, int64_t from);

/* Whose the partition is: the last stretch's; NULL: nobody's. */
const struct krc_stretch *krc_lineage_last(const struct krc_lineage *lineage);

/* Up to where the sink's newest stretch goes; -1: it has none.  `committed` as below. */
int64_t krc_lineage_reach(const struct krc_lineage *lineage, const char *sink, int64_t committed);

/* The stretch that an offset lies in; NULL: it is not told of. */
const struct krc_stretch *krc_lineage_owner(const struct krc_lineage *lineage, int64_t offset,
                                            int64_t committed);

/*
 * Whether the group has taken a commit of `to`, by a sink whose stretch began at `stretch` and
 * whose last commit that was surely taken was `from` (-1: none).  `committed` is the group's offset now,
 * -1: none.
 */
enum krc_verdict_on_commit { KRC_TAKEN, KRC_NOT_TAKEN, KRC_UNDECIDABLE };
enum krc_verdict_on_commit krc_lineage_judge(const struct krc_lineage *lineage, int64_t committed,
                                             const char *sink, int64_t stretch, int64_t from,
                                             int64_t to);

#endif
