/*
 * Lists of committed offsets.
 */
#include "store/committed.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/place.h"
#include "base/printable.h"

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
