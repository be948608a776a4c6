#include "consumer/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct krc_ledger_reset {
    struct krc_store_reset row; /* its reason points to the text beside it when it is put */
    char reason[512];
};

static const struct krc_account nothing = {.from = -1, .to = -1};

int64_t krc_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *krc_store_group(const krc_config *config)
{
    return config->group_id[0] != '\0' ? config->group_id : "default";
}

void krc_ledger_init(struct krc_ledger *ledger, const struct krc_place *place)
{
    *ledger = (struct krc_ledger){.place = place, .history = 1, .base = nothing};
}

void krc_ledger_free(struct krc_ledger *ledger)
{
    free(ledger->resets);
    ledger->resets = NULL;
}

/* ---- What is stored ------------------------------------------------------------------------ */

bool krc_ledger_unprotected(const struct krc_ledger *ledger, const struct krc_start *start)
{
    return start->found && (krc_uuid_is_zero(&start->topic_id) ||
                            krc_uuid_is_zero(&ledger->place->topic_id));
}

static void begin_history(struct krc_ledger *ledger)
{
    ledger->history++;
    ledger->base = nothing;
}

int krc_ledger_load(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                    bool follows, struct krc_start *start, krc_error *error)
{
    struct krc_stored row;
    const struct krc_place *place = ledger->place;
    *start = (struct krc_start){.found = false};
    int rc = krc_store_load(store, group, place->topic, place->partition, &row, error);
    if (rc <= 0)
        return rc;
    *start = (struct krc_start){.found = true,
                                .offset = row.offset,
                                .epoch = row.leader_epoch,
                                .topic_id = row.topic_id,
                                .settled = row.settled};
    ledger->history = row.history;
    ledger->base = row.account;
    if (!follows && krc_uuid_differs(&row.topic_id, &place->topic_id))
        begin_history(ledger);
    return 1;
}

/* ---- What is to be stored ------------------------------------------------------------------ */

void krc_ledger_reset(struct krc_ledger *ledger, const struct krc_event *event,
                      const struct krc_offset_update *update)
{
    if (update->new_history)
        begin_history(ledger);
    size_t size = (ledger->reset_count + 1) * sizeof *ledger->resets;
    struct krc_ledger_reset *resets = realloc(ledger->resets, size);
    ledger->forgotten |= resets == NULL;
    if (resets == NULL)
        return;
    ledger->resets = resets;
    struct krc_ledger_reset *reset = &resets[ledger->reset_count++];
    bool forward = !update->new_history && update->to > update->from;
    reset->row = (struct krc_store_reset){.time_ms = krc_now_ms(),
                                          .history = ledger->history,
                                          .from = update->from,
                                          .to = update->to,
                                          .lost_from = forward ? update->from : update->to,
                                          .lost_to = update->to};
    memcpy(reset->reason, event->message, sizeof reset->reason);
}

struct krc_account krc_ledger_account(const struct krc_ledger *ledger,
                                      const struct krc_account *run)
{
    const struct krc_account *base = &ledger->base;
    if (base->to != run->from)
        return *run;
    return (struct krc_account){
        .from = base->from,
        .to = run->to,
        .delivered = base->delivered + run->delivered,
        .aborted = base->aborted + run->aborted,
        .control = base->control + run->control,
        .absent = base->absent + run->absent,
        .lost = base->lost + run->lost,
        .skipped = base->skipped + run->skipped,
    };
}

static int put_resets(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                      krc_error *error)
{
    const struct krc_place *place = ledger->place;
    if (ledger->forgotten)
        return krc_fail(error, KRC_E_NOMEM,
                        "memory ran out when the position of %s-%d was reset, so that this cannot "
                        "be recorded with the offset: open the consumer anew",
                        place->topic, (int)place->partition);
    for (size_t i = 0; i < ledger->reset_count; i++) {
        ledger->resets[i].row.reason = ledger->resets[i].reason;
        KRC_TRY(krc_store_add_reset(store, group, place->topic, place->partition,
                                    &ledger->resets[i].row, error));
    }
    return KRC_OK;
}

int krc_ledger_put(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                   const struct krc_point *point, int64_t commit_time_ms, bool settled,
                   krc_error *error)
{
    const struct krc_place *place = ledger->place;
    struct krc_stored row = {
        .offset = point->offset,
        .leader_epoch = point->epoch,
        .history = ledger->history,
        .topic_id = place->topic_id,
        .commit_time_ms = commit_time_ms,
        .settled = settled,
        .account = krc_ledger_account(ledger, &point->account),
    };
    KRC_TRY(krc_store_put(store, group, place->topic, place->partition, &row, error));
    return put_resets(ledger, store, group, error);
}

void krc_ledger_committed(struct krc_ledger *ledger, size_t reset_count)
{
    ledger->reset_count -= reset_count;
    if (ledger->reset_count > 0)
        memmove(ledger->resets, ledger->resets + reset_count,
                ledger->reset_count * sizeof *ledger->resets);
}

int krc_ledger_copy(struct krc_ledger *copy, const struct krc_ledger *ledger,
                    const struct krc_place *place, krc_error *error)
{
    size_t size = ledger->reset_count * sizeof *ledger->resets;
    *copy = *ledger;
    copy->place = place;
    copy->resets = malloc(size + 1);
    if (copy->resets == NULL)
        return krc_fail_nomem(error, size);
    if (size > 0)
        memcpy(copy->resets, ledger->resets, size);
    return KRC_OK;
}
