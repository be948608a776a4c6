/*
 * Where to start and to stop, as people write it: earliest, 42, -10, @1760000000000, ...
 */
#ifndef KRC_CMD_WHERE_H
#define KRC_CMD_WHERE_H

#include <krc.h>

struct cmd_where {
    enum {
        CMD_UNSAID,
        CMD_STORED,
        CMD_EARLIEST,
        CMD_END,
        CMD_HIGH_WATERMARK,
        CMD_OFFSET,
        CMD_BEFORE_END,
        CMD_TIME,
    } kind;
    int64_t number; /* an offset, how far before the end, or a time in ms */
};

/* All of the text a number in decimal. */
bool cmd_parse_number(const char *text, int64_t *number);

/* The argument of -o and of --until; false: it is none.  kcat's `e@TIME` in -o sets `until`. */
bool cmd_parse_from(const char *text, struct cmd_where *from, struct cmd_where *until);
bool cmd_parse_until(const char *text, struct cmd_where *until);

/*
 * What they mean in one partition, as krc_assign takes it.  Where that lies in the log, it is
 * looked up: the queries that are needed are written first, then asked together, then read in the same
 * order.  Both functions take the place of the next query, and move it on.
 */
enum { CMD_QUERIES_MOST = 3 }; /* of one partition: its begin and its end */

struct cmd_asked {
    const struct krc_partition *partition;
    bool read_uncommitted;
    struct krc_offset_query **next;
};

void cmd_ask_from(const struct cmd_where *from, struct cmd_asked *asked);
void cmd_ask_until(const struct cmd_where *until, struct cmd_asked *asked);

int cmd_resolve_from(const struct cmd_where *from, struct cmd_asked *asked, int64_t *start,
                     krc_error *error) KRC_MUST_USE;
int cmd_resolve_until(const struct cmd_where *until, struct cmd_asked *asked, int64_t *end,
                      krc_error *error) KRC_MUST_USE;

#endif
