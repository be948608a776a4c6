/*
 * Lists of committed offsets, between a store and the command.
 */
#include "store/committed.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/place.h"
#include "base/printable.h"
#include "store/store.h"

/* A row and its strings are one piece of memory.  Rows are appended, found through a tree, and
 * sorted when they are looked at: inserting each where it belongs would move all that follow. */
struct krc_committed_list {
    struct krc_committed **rows;
    size_t count, capacity;
    bool is_unsorted;
    void *tree; /* of the same rows (tsearch) */
    char *left_out; /* the first topic whose name was not valid; NULL: there was none */
};

const char *krc_range_name(enum krc_range range)
{
    static const char *const names[] = {[KRC_IN_RANGE] = "in the log",
                                        [KRC_BELOW_START] = "below the start",
                                        [KRC_BEYOND_END] = "beyond the end"};
    return names[range];
}

krc_committed_list *krc_committed_new(void)
{
    return calloc(1, sizeof(krc_committed_list));
}

static void keep_row(void *row)
{
    (void)row;
}

void krc_committed_free(krc_committed_list *list)
{
    if (list == NULL)
        return;
    tdestroy(list->tree, keep_row);
    for (size_t i = 0; i < list->count; i++)
        free(list->rows[i]);
    free(list->rows);
    free(list->left_out);
    free(list);
}

const char *krc_committed_left_out(const krc_committed_list *list)
{
    return list->left_out;
}

int krc_committed_compare(const struct krc_committed *a, const struct krc_committed *b)
{
    int order = strcmp(a->group, b->group);
    if (order == 0)
        order = strcmp(a->topic, b->topic);
    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

static int compare_nodes(const void *left, const void *right)
{
    return krc_committed_compare(left, right);
}

static int compare_pointers(const void *left, const void *right)
{
    const struct krc_committed *const *a = left, *const *b = right;
    return krc_committed_compare(*a, *b);
}

/* To its readers a list that is sorted is the same. */
const struct krc_committed *krc_committed_at(const krc_committed_list *list, size_t i)
{
    if (list->is_unsorted) {
        qsort(list->rows, list->count, sizeof *list->rows, compare_pointers);
        ((krc_committed_list *)(uintptr_t)list)->is_unsorted = false;
    }
    return i < list->count ? list->rows[i] : NULL;
}

const struct krc_committed *krc_committed_find(const krc_committed_list *list, const char *group,
                                               const char *topic, int32_t partition)
{
    const struct krc_committed wanted = {.group = group, .topic = topic, .partition = partition};
    struct krc_committed *const *node = tfind(&wanted, &list->tree, compare_nodes);
    return node == NULL ? NULL : *node;
}

/* Appends a string, and moves on behind it. */
static const char *append(char **free_space, const char *text)
{
    char *copy = *free_space;
    *free_space = stpcpy(copy, text) + 1;
    return copy;
}

struct krc_committed *krc_committed_copy(const struct krc_committed *row)
{
    const char *metadata = row->metadata == NULL ? "" : row->metadata;
    struct krc_committed *copy =
        malloc(sizeof *copy + strlen(row->group) + strlen(row->topic) + strlen(metadata) + 3);
    if (copy == NULL)
        return NULL;
    char *free_space = (char *)(copy + 1);
    *copy = *row;
    copy->group = append(&free_space, row->group);
    copy->topic = append(&free_space, row->topic);
    if (row->metadata != NULL)
        copy->metadata = append(&free_space, metadata);
    return copy;
}

static int grow(krc_committed_list *list, krc_error *error)
{
    if (list->count < list->capacity)
        return KRC_OK;
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    struct krc_committed **rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL)
        return krc_fail_nomem(error, capacity * sizeof *rows);
    list->rows = rows;
    list->capacity = capacity;
    return KRC_OK;
}

static int leave_out(krc_committed_list *list, const char *topic, krc_error *error)
{
    if (list->left_out == NULL)
        list->left_out = krc_printable_copy(topic, strlen(topic));
    return list->left_out == NULL ? krc_fail_nomem(error, strlen(topic)) : KRC_OK;
}

/* 1: the tree has that partition already. */
static int plant(krc_committed_list *list, struct krc_committed *row, krc_error *error)
{
    struct krc_committed *const *node = tsearch(row, &list->tree, compare_nodes);
    if (node == NULL)
        return krc_fail_nomem(error, sizeof *row);
    return *node != row;
}

int krc_committed_add(krc_committed_list *list, const struct krc_committed *row, krc_error *error)
{
    if (!krc_is_topic_name(row->topic, strlen(row->topic)))
        return leave_out(list, row->topic, error);
    KRC_TRY(grow(list, error));
    struct krc_committed *copy = krc_committed_copy(row);
    if (copy == NULL)
        return krc_fail_nomem(error, sizeof *row);
    int rc = plant(list, copy, error);
    if (rc != 0) {
        free(copy);
        return rc;
    }
    list->is_unsorted |=
        list->count > 0 && krc_committed_compare(list->rows[list->count - 1], copy) > 0;
    list->rows[list->count++] = copy;
    return KRC_OK;
}

/* ---- From a store and back ----------------------------------------------------------------- */

struct loading {
    krc_committed_list *list;
    krc_error *error;
};

static int load_row(void *arg, const char *group, const char *topic, int32_t partition,
                    const struct krc_stored *stored)
{
    struct loading *loading = arg;
    struct krc_committed row = {
        .group = group,
        .topic = topic,
        .partition = partition,
        .leader_epoch = stored->leader_epoch,
        .offset = stored->offset,
        .metadata = stored->metadata,
        .history = stored->history,
        .commit_time_ms = stored->commit_time_ms,
        .topic_id = stored->topic_id,
    };
    int rc = krc_committed_add(loading->list, &row, loading->error);
    return rc < 0 ? rc : 0;
}

int krc_committed_load(krc_committed_list *list, const char *store, const char *group,
                       krc_error *error)
{
    struct krc_store *from;
    struct loading loading = {list, error};
    KRC_TRY(krc_store_open(&from, store, KRC_STORE_READ_ONLY, error));
    int rc = krc_store_each(from, group, load_row, &loading, error);
    krc_store_close(from);
    return rc;
}

/* Whether offsets of the row's are not those of the topic that is stored: it was made again. */
static bool is_another_topic(const struct krc_stored *stored, const struct krc_committed *row)
{
    return krc_uuid_differs(&stored->topic_id, &row->topic_id);
}

/* The position that a row asks for, given the one there is. */
static struct krc_stored moved(const struct krc_stored *before, const struct krc_committed *row,
                               int64_t now_ms)
{
    struct krc_stored after = *before;
    after.history += is_another_topic(before, row);
    after.offset = row->offset;
    after.leader_epoch = row->leader_epoch;
    after.commit_time_ms = now_ms;
    after.settled = false;
    after.account = (struct krc_account){.from = row->offset, .to = row->offset};
    return after;
}

static int save_row(struct krc_store *store, const struct krc_committed *row, const char *reason,
                    int64_t now_ms, krc_error *error)
{
    struct krc_stored stored = {.offset = -1, .history = 1, .leader_epoch = -1, .metadata = ""};
    KRC_TRY(krc_store_load(store, row->group, row->topic, row->partition, &stored, error));
    int64_t from = stored.offset;
    if (from != row->offset || is_another_topic(&stored, row)) {
        struct krc_store_reset reset = {
            .time_ms = now_ms,
            .history = stored.history,
            .from = from,
            .to = row->offset,
            .lost_from = row->offset,
            .lost_to = row->offset,
            .reason = reason,
        };
        KRC_TRY(krc_store_add_reset(store, row->group, row->topic, row->partition, &reset, error));
        stored = moved(&stored, row, now_ms);
        KRC_TRY(krc_store_put_epochs(store, row->group, row->topic, row->partition, NULL, 0,
                                     error));
    } else if (row->leader_epoch >= 0) {
        stored.leader_epoch = row->leader_epoch;
    }
    if (row->metadata != NULL)
        stored.metadata = row->metadata;
    if (!krc_uuid_is_zero(&row->topic_id))
        stored.topic_id = row->topic_id;
    return krc_store_put(store, row->group, row->topic, row->partition, &stored, error);
}

static int save_rows(struct krc_store *store, const krc_committed_list *list, const char *path,
                     const char *reason, int64_t now_ms, krc_error *error)
{
    KRC_TRY(krc_store_begin(store, error));
    int has_sink = krc_store_has_sink(store, error);
    KRC_TRY(has_sink);
    if (has_sink)
        return krc_fail(error, KRC_E_STATE,
                        "%s belongs to a sink, which stands where its offsets are: if they moved, "
                        "records would be written twice or left out; replay into another place",
                        path);
    for (size_t i = 0; i < list->count; i++)
        KRC_TRY(save_row(store, krc_committed_at(list, i), reason, now_ms, error));
    return krc_store_commit(store, error);
}

int krc_committed_save(const krc_committed_list *list, const char *store, const char *reason,
                       int64_t now_ms, krc_error *error)
{
    struct krc_store *to;
    KRC_TRY(krc_store_open(&to, store, KRC_STORE_CREATE, error));
    int rc = save_rows(to, list, store, reason, now_ms, error);
    if (rc < 0)
        krc_store_rollback(to);
    krc_store_close(to);
    return rc;
}
