/*
 * Records of the group log and the transaction log: a key with its length in one byte before it,
 * then a value, which is read as every kind.
 */
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "admin/group_records.h"
#include "admin/transactional_ids.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_view(struct krc_bytes view, const uint8_t *data, size_t size)
{
    if (view.data != NULL && (view.data < data || view.len > size ||
                              view.data + view.len > data + size))
        abort();
}

static void read_value(struct krc_bytes value, struct krc_arena *arena)
{
    struct krc_offset_commit commit;
    struct krc_classic_group group;
    struct krc_consumer_member member;
    struct krc_consumer_assignment consumer;
    struct krc_transaction_note note;
    int32_t epoch;
    (void)!krc_transaction_note_read(value, &note, arena, NULL);
    if (krc_offset_commit_read(value, &commit, NULL) == KRC_OK)
        check_view(commit.metadata, value.data, value.len);
    if (krc_classic_group_read(value, &group, arena, NULL) == KRC_OK)
        for (int32_t i = 0; i < group.member_count; i++)
            check_view(group.members[i].host, value.data, value.len);
    if (krc_consumer_member_read(value, &member, NULL) == KRC_OK)
        check_view(member.client_id, value.data, value.len);
    (void)!krc_consumer_assignment_read(value, &consumer, arena, NULL);
    (void)!krc_group_epoch_read(value, &epoch, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct krc_arena arena = {0};
    struct krc_group_key key;
    if (size == 0 || data[0] > size - 1)
        return 0;
    size_t len = data[0];
    struct krc_bytes id;
    if (krc_transaction_key_read((struct krc_bytes){data + 1, len}, &id, NULL) == 1)
        check_view(id, data + 1, len);
    if (krc_group_key_read((struct krc_bytes){data + 1, len}, &key, NULL) == 1) {
        check_view(key.group, data + 1, len);
        check_view(key.topic, data + 1, len);
        check_view(key.member, data + 1, len);
    }
    read_value((struct krc_bytes){data + 1 + len, size - 1 - len}, &arena);
    krc_arena_free(&arena);
    return 0;
}
