#include "consumer/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumer/take.h"

struct krc_ledger_reset {
    struct krc_store_reset row; /* its reason points to the text beside it when it is put */
    struct krc_stored ended;    /* the account of the history that it ends; history 0: none */
    char reason[512];
};

static const struct krc_account nothing = {.from = -1, .to = -1};

enum { EPOCH_ROWS = KRC_EPOCHS_MAX + 1 /* what lies behind the last has none */ };

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
    *ledger = (struct krc_ledger){
        .place = place, .history = 1, .base = nothing, .stored_offset = -1};
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

/* Rows at or beyond the committed offset are of a commit that was taken back. */
static int load_epochs(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                       int64_t offset, krc_error *error)
{
    const struct krc_place *place = ledger->place;
    struct krc_stored_epoch rows[EPOCH_ROWS];
    struct krc_epochs epochs = {0};
    int count = krc_store_load_epochs(store, group, place->topic, place->partition, rows,
                                      EPOCH_ROWS, error);
    KRC_TRY(count);
    for (int i = 0; i < count; i++) {
        int64_t end = i + 1 < count ? krc_least(rows[i + 1].first_offset, offset) : offset;
        if (rows[i].epoch >= 0 && rows[i].first_offset < offset)
            krc_epochs_add(&epochs, rows[i].epoch, rows[i].first_offset, end);
    }
    epochs.incomplete = epochs.count > 0 && epochs.first[0] > ledger->base.from;
    ledger->epochs = epochs;
    return KRC_OK;
}

static void begin_history(struct krc_ledger *ledger)
{
    ledger->history++;
    ledger->base = nothing;
    ledger->topic_id = ledger->place->topic_id;
}

int krc_ledger_load(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                    bool follows, struct krc_start *start, krc_error *error)
{
    struct krc_stored row;
    const struct krc_place *place = ledger->place;
    *start = (struct krc_start){.found = false};
    ledger->topic_id = place->topic_id;
    int rc = krc_store_load(store, group, place->topic, place->partition, &row, error);
    if (rc <= 0)
        return rc;
    *start = (struct krc_start){.found = true,
                                .offset = row.offset,
                                .epoch = row.leader_epoch,
                                .topic_id = row.topic_id,
                                .settled = row.settled};
    ledger->history = ledger->stored_history = row.history;
    ledger->stored_offset = row.offset;
    ledger->base = row.account;
    if (!krc_uuid_is_zero(&row.topic_id))
        ledger->topic_id = row.topic_id;
    KRC_TRY(load_epochs(ledger, store, group, row.offset, error));
    start->epochs = ledger->epochs;
    if (!follows && krc_uuid_differs(&row.topic_id, &place->topic_id))
        begin_history(ledger);
    return 1;
}

void krc_ledger_move(struct krc_ledger *ledger, struct krc_start *start)
{
    ledger->topic_id = ledger->place->topic_id;
    ledger->epochs = (struct krc_epochs){0};
    *start = (struct krc_start){.found = start->found, .offset = start->offset, .epoch = -1};
}

/* ---- What is to be stored ------------------------------------------------------------------ */

void krc_ledger_reset(struct krc_ledger *ledger, const struct krc_event *event,
                      const struct krc_offset_update *update)
{
    struct krc_account ended = krc_ledger_account(ledger, &event->account);
    struct krc_uuid ended_id = ledger->topic_id;
    int32_t ended_history = ledger->history;
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
    reset->ended = (struct krc_stored){
        .history = update->new_history ? ended_history : 0, .topic_id = ended_id, .account = ended};
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

static int put_reset(const struct krc_ledger *ledger, struct krc_ledger_reset *reset,
                     struct krc_store *store, const char *group, krc_error *error)
{
    const struct krc_place *place = ledger->place;
    if (reset->ended.history > 0)
        KRC_TRY(krc_store_put_account(store, group, place->topic, place->partition, &reset->ended,
                                      error));
    reset->row.reason = reset->reason;
    return krc_store_add_reset(store, group, place->topic, place->partition, &reset->row, error);
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
    for (size_t i = 0; i < ledger->reset_count; i++)
        KRC_TRY(put_reset(ledger, &ledger->resets[i], store, group, error));
    return KRC_OK;
}

/* The rows of these epochs: a hole behind the last may be of any that comes next. */
static int rows_of_epochs(const struct krc_epochs *epochs, int64_t offset,
                          struct krc_stored_epoch *rows)
{
    int count = 0;
    for (; count < epochs->count; count++)
        rows[count] = (struct krc_stored_epoch){epochs->epoch[count], epochs->first[count]};
    if (count > 0 && epochs->end < offset)
        rows[count++] = (struct krc_stored_epoch){-1, epochs->end};
    return count;
}

/* They change rarely: those that are there already are not written again. */
static int put_epochs(const struct krc_ledger *ledger, struct krc_store *store, const char *group,
                      const struct krc_point *point, krc_error *error)
{
    const struct krc_place *place = ledger->place;
    struct krc_stored_epoch rows[EPOCH_ROWS], before[EPOCH_ROWS];
    int count = rows_of_epochs(&point->epochs, point->offset, rows);
    int before_count = rows_of_epochs(&ledger->epochs, ledger->stored_offset, before);
    bool same = count == before_count;
    for (int i = 0; same && i < count; i++)
        same = rows[i].epoch == before[i].epoch && rows[i].first_offset == before[i].first_offset;
    return same ? KRC_OK
                : krc_store_put_epochs(store, group, place->topic, place->partition, rows, count,
                                       error);
}

static void say_offset(int64_t offset, char text[24])
{
    snprintf(text, 24, offset < 0 ? "none" : "%lld", (long long)offset);
}

/* In the transaction that writes, so that nothing comes in between. */
static int check_unmoved(const struct krc_ledger *ledger, struct krc_store *store,
                         const char *group, krc_error *error)
{
    const struct krc_place *place = ledger->place;
    struct krc_stored row = {.offset = -1};
    char found[24], expected[24];
    KRC_TRY(krc_store_load(store, group, place->topic, place->partition, &row, error));
    if (row.offset == ledger->stored_offset && row.history == ledger->stored_history)
        return KRC_OK;
    say_offset(row.offset, found);
    say_offset(ledger->stored_offset, expected);
    return krc_fail(error, KRC_E_MISMATCH,
                    "%s-%d: the committed offset of group \"%s\" in the offset store is %s, "
                    "expected %s: another process commits for the same group, or it was reset; "
                    "nothing was committed; stop the other process, or use another group or store",
                    place->topic, (int)place->partition, group, found, expected);
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
    KRC_TRY(check_unmoved(ledger, store, group, error));
    KRC_TRY(krc_store_put(store, group, place->topic, place->partition, &row, error));
    KRC_TRY(put_epochs(ledger, store, group, point, error));
    return put_resets(ledger, store, group, error);
}

void krc_ledger_committed(struct krc_ledger *ledger, const struct krc_ledger *put,
                          const struct krc_point *point)
{
    size_t reset_count = put->reset_count;
    ledger->epochs = point->epochs;
    ledger->stored_offset = point->offset;
    ledger->stored_history = put->history;
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
