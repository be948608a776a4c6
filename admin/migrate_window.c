#include "admin/migrate_window.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "security/digest.h"

/* ---- What a record says -------------------------------------------------------------------- */

static int add_number(struct krc_buffer *out, int64_t number, krc_error *error)
{
    uint8_t be[8];
    krc_put_be64(be, (uint64_t)number);
    return krc_buffer_append(out, be, sizeof be, error);
}

static int add_bytes(struct krc_buffer *out, struct krc_bytes bytes, krc_error *error)
{
    KRC_TRY(add_number(out, bytes.data == NULL ? -1 : (int64_t)bytes.len, error));
    return bytes.data == NULL ? KRC_OK : krc_buffer_append(out, bytes.data, bytes.len, error);
}

/*
 * Digested is, all numbers int64:
 *     timestamp     0 where it is no part of the content
 *     key length    -1: null
 *     key
 *     value length  -1: null
 *     value
 *     header count
 *     for each header in its order: key length, key, value length (-1: null), value
 */
int krc_content_of(const struct krc_record *record, bool timed, struct krc_buffer *scratch,
                   struct krc_content *content, krc_error *error)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    uint8_t digest[KRC_DIGEST_MOST];
    scratch->len = 0;
    KRC_TRY(add_number(scratch, timed ? record->timestamp_ms : 0, error));
    KRC_TRY(add_bytes(scratch, record->key, error));
    KRC_TRY(add_bytes(scratch, record->value, error));
    KRC_TRY(add_number(scratch, record->header_count, error));
    while (krc_header_next(&rest, &header)) {
        KRC_TRY(add_bytes(scratch, header.key, error));
        KRC_TRY(add_bytes(scratch, header.value, error));
    }
    KRC_TRY(krc_digest(KRC_SHA256, (struct krc_bytes){scratch->data, scratch->len}, digest,
                       error));
    memcpy(content->bytes, digest, sizeof content->bytes);
    return KRC_OK;
}

/* ---- The window ---------------------------------------------------------------------------- */

int krc_window_init(struct krc_window *window, size_t most, krc_error *error)
{
    *window = (struct krc_window){.most = most};
    window->marks = calloc(2 * most, sizeof *window->marks);
    return window->marks == NULL ? krc_fail_nomem(error, 2 * most * sizeof *window->marks) : KRC_OK;
}

void krc_window_free(struct krc_window *window)
{
    free(window->marks);
    free(window->slots);
    *window = (struct krc_window){0};
}

void krc_window_add_done(struct krc_window *window, const struct krc_mark *mark)
{
    window->marks[window->next] = *mark;
    window->next = (window->next + 1) % window->most;
    if (window->split < window->most)
        window->split++;
    window->count = window->split;
}

static void reverse(struct krc_mark *marks, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct krc_mark mark = marks[i];
        marks[i] = marks[count - 1 - i];
        marks[count - 1 - i] = mark;
    }
}

/* A full ring begins at `next`: what is before goes behind the rest. */
void krc_window_turn(struct krc_window *window)
{
    if (window->split < window->most)
        return;
    reverse(window->marks, window->next);
    reverse(window->marks + window->next, window->most - window->next);
    reverse(window->marks, window->most);
    window->next = 0;
}

bool krc_window_add_left(struct krc_window *window, const struct krc_mark *mark)
{
    if (window->count - window->split == window->most)
        return false;
    window->marks[window->count++] = *mark;
    return true;
}

/* ---- Slots --------------------------------------------------------------------------------- */

static int by_content(const void *left, const void *right)
{
    const struct krc_slot *a = left, *b = right;
    int order = memcmp(a->content.bytes, b->content.bytes, sizeof a->content.bytes);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

int krc_window_index(struct krc_window *window, krc_error *error)
{
    window->slots = calloc(window->count + 1, sizeof *window->slots);
    if (window->slots == NULL)
        return krc_fail_nomem(error, window->count * sizeof *window->slots);
    for (size_t i = 0; i < window->count; i++)
        window->slots[i] = (struct krc_slot){.content = window->marks[i].content, .index = i,
                                             .left_here = i >= window->split};
    qsort(window->slots, window->count, sizeof *window->slots, by_content);
    for (size_t i = 0; i < window->count; i++) {
        struct krc_slot *slot = &window->slots[i];
        struct krc_slot *last = &window->slots[window->slot_count - (window->slot_count > 0)];
        if (window->slot_count > 0 && krc_same_content(&last->content, &slot->content))
            last->left_here += slot->left_here;
        else
            window->slots[window->slot_count++] = *slot;
    }
    return KRC_OK;
}

struct krc_slot *krc_window_find(const struct krc_window *window,
                                 const struct krc_content *content)
{
    size_t low = 0, high = window->slot_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(window->slots[middle].content.bytes, content->bytes,
                           sizeof content->bytes);
        if (order == 0)
            return &window->slots[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
