/* DescribeConfigs: a topic's configuration. */
#ifndef KRC_PROTOCOL_DESCRIBE_CONFIGS_H
#define KRC_PROTOCOL_DESCRIBE_CONFIGS_H

#include "protocol/wire.h"

enum { KRC_RESOURCE_TOPIC = 2, KRC_RESOURCE_BROKER = 4 };

struct krc_describe_configs_resource {
    int8_t type;
    struct krc_bytes name;
    struct krc_bytes *keys; /* names of what is asked for */
    int32_t key_count;      /* -1: all */
};

struct krc_describe_configs_request {
    struct krc_describe_configs_resource *resources;
    int32_t resource_count;
    /* v1+ include synonyms, v3+ include documentation: always false */
};

struct krc_config_entry {
    struct krc_bytes name;
    struct krc_bytes value; /* nullable */
    /* read only, source (or is default), sensitive, synonyms, type, documentation: read over */
};

struct krc_config_result {
    int16_t error_code;
    struct krc_bytes error_message; /* nullable */
    int8_t type;
    struct krc_bytes name;
    struct krc_config_entry *entries;
    int32_t entry_count;
};

struct krc_describe_configs_response {
    int32_t throttle_time_ms;
    struct krc_config_result *results;
    int32_t result_count;
};

void krc_describe_configs_request(struct krc_wire *w, void *request);
void krc_describe_configs_response(struct krc_wire *w, void *response);

#endif
