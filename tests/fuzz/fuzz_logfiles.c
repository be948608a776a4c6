/*
 * The small files of a log folder.  The first byte chooses which one the rest is.
 */
#include <stdlib.h>
#include <string.h>

#include "logdir/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void snapshot(const uint8_t *file, size_t size)
{
    int32_t count;
    int64_t sum = 0;
    if (krc_snapshot_parse(file, size, &count, NULL) < 0)
        return;
    for (int32_t i = 0; i < count; i++)
        sum ^= krc_snapshot_producer(file, i).transaction_start;
    if ((size_t)count > size || sum == 1)
        abort();
}

static void indexes(const uint8_t *file, size_t size)
{
    int64_t sum = 0;
    for (size_t i = 0; i < krc_index_entries(file, size); i++)
        sum ^= krc_index_entry(file, i, INT64_MAX).offset;
    for (size_t i = 0; i < krc_timeindex_entries(file, size); i++)
        sum ^= krc_timeindex_entry(file, i, 0).offset;
    for (size_t i = 0; i < size / KRC_TXNINDEX_ENTRY; i++)
        sum ^= krc_txnindex_entry(file, i).last_stable_offset;
    if (size == 0 && sum != 0)
        abort();
}

static int line(void *arg, const char *topic, size_t topic_len, int32_t partition, int64_t offset)
{
    size_t *bytes = arg;
    *bytes += topic_len;
    if (topic_len == 0 || memchr(topic, '\n', topic_len) != NULL || partition < 0 || offset < 0)
        abort();
    return KRC_OK;
}

static void checkpoints(const char *text, size_t len)
{
    struct krc_epoch_start *epochs;
    size_t count, bytes = 0;
    if (krc_checkpoint_parse(text, len, line, &bytes, NULL) == KRC_OK && bytes > len)
        abort();
    int rc = krc_epochs_parse(text, len, &epochs, &count, NULL);
    for (size_t i = 1; rc == KRC_OK && i < count; i++)
        if (epochs[i].epoch <= epochs[i - 1].epoch)
            abort();
    free(epochs);
}

static void properties(const char *text, size_t len)
{
    struct krc_uuid id;
    char cluster[16];
    (void)!krc_partition_metadata_parse(text, len, &id, NULL);
    krc_meta_properties_cluster(text, len, cluster, sizeof cluster);
    if (strlen(cluster) >= sizeof cluster)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint8_t *copy = malloc(size > 1 ? size - 1 : 1); /* so that the sanitizer sees its end */
    if (copy == NULL)
        return 0;
    size--;
    memcpy(copy, data + 1, size);
    switch (data[0] % 4) {
    case 0:
        snapshot(copy, size);
        break;
    case 1:
        indexes(copy, size);
        break;
    case 2:
        checkpoints((const char *)copy, size);
        break;
    default:
        properties((const char *)copy, size);
        break;
    }
    free(copy);
    return 0;
}
