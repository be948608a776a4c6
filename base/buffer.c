#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

int krc_buffer_reserve(struct krc_buffer *buffer, size_t capacity, krc_error *error)
{
    return krc_buffer_reserve_within(buffer, capacity, SIZE_MAX, error);
}

int krc_buffer_reserve_within(struct krc_buffer *buffer, size_t capacity, size_t limit,
                              krc_error *error)
{
    if (capacity <= buffer->capacity)
        return KRC_OK;
    size_t doubled = buffer->capacity < limit / 2 ? buffer->capacity * 2 : limit;
    size_t wanted = doubled > capacity ? doubled : capacity;
    uint8_t *data = realloc(buffer->data, wanted);
    if (data == NULL)
        return krc_fail_nomem(error, wanted);
    buffer->data = data;
    buffer->capacity = wanted;
    return KRC_OK;
}

int krc_buffer_append(struct krc_buffer *buffer, const void *data, size_t len, krc_error *error)
{
    if (len == 0)
        return KRC_OK;
    KRC_TRY(krc_buffer_reserve(buffer, buffer->len + len, error));
    memcpy(buffer->data + buffer->len, data, len);
    buffer->len += len;
    return KRC_OK;
}

void krc_buffer_trim(struct krc_buffer *buffer, size_t keep)
{
    if (buffer->capacity > keep)
        krc_buffer_free(buffer);
}

void krc_buffer_shrink(struct krc_buffer *buffer)
{
    if (buffer->len == 0) {
        krc_buffer_free(buffer);
        return;
    }
    uint8_t *data = realloc(buffer->data, buffer->len);
    if (data == NULL)
        return; /* it stays as it is */
    buffer->data = data;
    buffer->capacity = buffer->len;
}

void krc_buffer_free(struct krc_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct krc_buffer){0};
}

void krc_buffer_wipe(struct krc_buffer *buffer)
{
    if (buffer->data != NULL)
        explicit_bzero(buffer->data, buffer->capacity);
    krc_buffer_free(buffer);
}
