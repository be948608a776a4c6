#include "logdir/verify.h"

#include "consumer/config.h"
#include "consumer/handle.h"

int krc_verify(const krc *handle, const char *topic, int32_t partition,
               const struct krc_verify_options *options, struct krc_verify_summary *summary,
               krc_error *error)
{
    const struct krc_config *config = handle->config;
    const struct krc_verify_limits limits = {
        .format_07 = config->format_07,
        .max_batch_bytes = config->max_message_bytes,
        .max_decompressed_bytes = config->max_decompressed_bytes,
    };
    const struct krc_log_place *place = krc_log_places_get(&handle->places, topic, partition);
    if (place == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no partition %s-%d", topic,
                        (int)partition);
    return krc_verify_log(place, &limits, options, summary, error);
}
