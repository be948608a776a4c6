/*
 * Records as text and as digests, for the command.
 */
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "replay/json.h"

enum { KEPT_BYTES = 4 << 20 }; /* what a text keeps when it is cleared */

struct krc_text {
    struct krc_buffer bytes;
    struct krc_buffer prefix; /* of the JSON lines of the partition that was named */
};

krc_text *krc_text_new(void)
{
    return calloc(1, sizeof(krc_text));
}

void krc_text_free(krc_text *text)
{
    if (text == NULL)
        return;
    krc_buffer_free(&text->bytes);
    krc_buffer_free(&text->prefix);
    free(text);
}

struct krc_bytes krc_text_bytes(const krc_text *text)
{
    return (struct krc_bytes){text->bytes.data, text->bytes.len};
}

void krc_text_clear(krc_text *text)
{
    text->bytes.len = 0;
    krc_buffer_trim(&text->bytes, KEPT_BYTES);
}

int krc_text_add(krc_text *text, const void *data, size_t len, krc_error *error)
{
    return krc_buffer_append(&text->bytes, data, len, error);
}

int krc_text_add_number(krc_text *text, int64_t number, krc_error *error)
{
    return krc_json_number(&text->bytes, number, error);
}

int krc_text_add_json_string(krc_text *text, const char *string, krc_error *error)
{
    return krc_json_string(&text->bytes, krc_bytes_of(string), error);
}

int krc_text_name_partition(krc_text *text, const char *topic, int32_t partition, krc_error *error)
{
    return krc_json_prefix(&text->prefix, topic, partition, error);
}

int krc_text_add_json(krc_text *text, const struct krc_record *record,
                      enum krc_timestamp_type type, bool base64, krc_error *error)
{
    return krc_json_line(&text->bytes, &text->prefix, record, type, base64, error);
}

static void put_length(uint8_t *p, struct krc_bytes bytes)
{
    krc_put_be32(p, bytes.data == NULL ? UINT32_MAX : (uint32_t)bytes.len);
}

uint32_t krc_digest_record(uint32_t digest, const struct krc_record *record)
{
    uint8_t numbers[20], value_length[4];
    krc_put_be64(numbers, (uint64_t)record->offset);
    krc_put_be64(numbers + 8, (uint64_t)record->timestamp_ms);
    put_length(numbers + 16, record->key);
    put_length(value_length, record->value);
    digest = krc_crc32c(digest, numbers, sizeof numbers);
    digest = krc_crc32c(digest, record->key.data, record->key.len);
    digest = krc_crc32c(digest, value_length, sizeof value_length);
    return krc_crc32c(digest, record->value.data, record->value.len);
}
