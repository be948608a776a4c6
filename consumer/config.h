/*
 * The properties, as values.
 */
#ifndef KRC_CONSUMER_CONFIG_H
#define KRC_CONSUMER_CONFIG_H

#include "offsets/offsets.h"

struct krc_config {
    char **log_dirs; /* as they stand, in the order given */
    size_t log_dir_count;
    int64_t format_07;        /* log.format: 0 or 1 */
    char *group_id;           /* "": none */
    char *store_file;         /* "": none */
    int64_t read_uncommitted; /* isolation.level */
    int64_t reset_policy;     /* auto.offset.reset: enum krc_reset_policy */
    int64_t reset_duration_ms;
    int64_t max_message_bytes;
    int64_t max_decompressed_bytes;
    int64_t skip_corrupt;
    int64_t commit_interval_bytes;
    char **texts; /* each property as it was set, for krc_config_get */
};

krc_config *krc_config_copy(const krc_config *config); /* NULL: out of memory */

/* An ISO 8601 duration of weeks, days, hours, minutes and seconds ("P1DT2H", "PT0.5S"). */
bool krc_parse_duration(const char *text, int64_t *ms);

#endif
