/*
 * The table of properties, and how their values are read.
 */
#ifndef KRC_CONSUMER_CONFIG_VALUES_H
#define KRC_CONSUMER_CONFIG_VALUES_H

#include "consumer/config.h"
#include "groups/assign.h"

struct krc_row;

/* Takes a value into the configuration.  KRC_E_INVALID: it is none; KRC_E_UNSUPPORTED: krc has not
 * what it asks for. */
typedef int krc_value_fn(krc_config *config, const struct krc_row *row, const char *value,
                         krc_error *error);

struct krc_row {
    struct krc_property is;
    krc_value_fn *take;  /* NULL: any value will do, and is kept as the setting's text */
    size_t field;        /* offset in krc_config */
    int64_t least, most; /* numbers; texts: most bytes, 0 for any number */
    const char *choices; /* in the order of their values, a blank between */
};

krc_value_fn krc_value_text, krc_value_servers; /* into a char * */
krc_value_fn krc_value_number, krc_value_ms;    /* into an int64_t, and so on */
krc_value_fn krc_value_choice, krc_value_choice_of_any_case, krc_value_mechanism;
krc_value_fn krc_value_reset, krc_value_tls_versions;

/* These are only checked, and kept as the setting's text; krc_config_get hides a secret. */
krc_value_fn krc_value_secret, krc_value_token_url, krc_value_assignors;

/* The next one in a value of partition.assignment.strategy, by its name; NULL: there is none of
 * that name. */
const struct krc_assignor *krc_next_assignor(const char **text, struct krc_bytes *name);

#endif
