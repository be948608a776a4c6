/*
 * From what was found to the event's name: the only place where the reset policy is looked at.
 */
#include "offsets/offsets.h"

static struct krc_offset_event by_policy(enum krc_reset_policy policy, enum krc_reset_cause cause,
                                         enum krc_offset_event_type nearest)
{
    static const enum krc_offset_event_type names[] = {
        [KRC_RESET_EARLIEST] = KRC_ON_RESET_START,
        [KRC_RESET_LATEST] = KRC_ON_RESET_END,
        [KRC_RESET_NONE] = KRC_ON_RESET_REFUSED,
        [KRC_RESET_BY_DURATION] = KRC_ON_RESET_TIME,
    };
    return (struct krc_offset_event){
        .type = policy == KRC_RESET_NEAREST ? nearest : names[policy],
        .cause = cause,
        .offset = -1,
        .epoch = -1,
    };
}

struct krc_offset_event krc_offsets_judge_stored(enum krc_reset_policy policy, bool found,
                                                 bool same_topic, int64_t offset, int32_t epoch)
{
    struct krc_offset_event event;
    if (!found)
        return by_policy(policy, KRC_CAUSE_NONE, KRC_ON_RESET_START);
    if (!same_topic) {
        event = by_policy(policy, KRC_CAUSE_RECREATED, KRC_ON_RESET_START);
        event.offset = offset;
        event.epoch = epoch;
        return event;
    }
    return (struct krc_offset_event){
        .type = epoch < 0 ? KRC_ON_STORED_NO_EPOCH : KRC_ON_STORED,
        .offset = offset,
        .epoch = epoch,
    };
}

struct krc_offset_event krc_offsets_judge_range(const struct krc_offsets *offsets,
                                                enum krc_reset_policy policy, int64_t log_start,
                                                int64_t log_end)
{
    struct krc_offset_event event = {.type = KRC_ON_INSIDE};
    if (offsets->position < log_start) {
        event = by_policy(policy, KRC_CAUSE_BELOW_START, KRC_ON_RESET_START);
    } else if (offsets->position > log_end) {
        event = by_policy(policy, KRC_CAUSE_BEYOND_END, KRC_ON_RESET_HERE);
        event.offset = log_end;
    }
    if (event.type == KRC_ON_RESET_START) { /* it is at hand: no second question */
        event.type = KRC_ON_RESET_HERE;
        event.offset = log_start;
    }
    return event;
}

/* The histories part at `offset`, behind a record of `epoch`. */
static struct krc_offset_event parts_at(enum krc_reset_policy policy, int64_t offset, int32_t epoch,
                                        enum krc_offset_event_type nearest)
{
    struct krc_offset_event event = by_policy(policy, KRC_CAUSE_TRUNCATED, nearest);
    event.offset = offset;
    event.epoch = epoch;
    return event;
}

static int64_t lower(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct krc_offset_event krc_offsets_judge_epoch_end(const struct krc_offsets *offsets,
                                                    enum krc_reset_policy policy, int32_t found,
                                                    int64_t end)
{
    int32_t asked = offsets->asked_epoch;
    int64_t read_to, agreed = offsets->agreed;
    bool unknown = end < 0 || found < 0 || found > asked;
    if (asked == offsets->epoch && unknown)
        return (struct krc_offset_event){.type = KRC_ON_EPOCH_UNKNOWN};
    if (asked == offsets->epoch && found == asked && end >= agreed)
        return (struct krc_offset_event){.type = KRC_ON_VALID};
    if (unknown)
        return parts_at(policy, agreed, asked, KRC_ON_RESET_HERE);
    if (found == asked)
        return parts_at(policy, lower(end, agreed), asked, KRC_ON_RESET_HERE);
    int32_t read = krc_epochs_floor(&offsets->epochs, found, &read_to);
    agreed = lower(lower(end, read_to), agreed);
    bool decided = read == found || read < 0;
    int32_t epoch = decided && agreed == end ? found : read;
    struct krc_offset_event event =
        parts_at(policy, agreed, epoch, decided ? KRC_ON_RESET_HERE : KRC_ON_DIVERGED);
    event.unsure = read < 0 && (offsets->epochs.incomplete || offsets->epochs.count == 0);
    return event;
}

const char *krc_reset_cause_text(enum krc_reset_cause cause)
{
    switch (cause) {
    case KRC_CAUSE_NONE:
        return "no committed offset";
    case KRC_CAUSE_BELOW_START:
        return "the offset lies below the log start offset";
    case KRC_CAUSE_BEYOND_END:
        return "the offset lies beyond the log end offset";
    case KRC_CAUSE_TRUNCATED:
        return "the log was truncated: the offset's leader epoch ends before it";
    case KRC_CAUSE_RECREATED:
        return "the topic was deleted and made again: it has another id";
    }
    return "";
}
