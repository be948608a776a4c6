#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/crc.h"
#include "base/bytes.h"
#include "logdir/files.h"
#include "tests/support/expected.h"
#include "tests/support/run.h"

#define SEGMENTS "kafka-4.3.1/txns-segments-0/"

static krc_error error;

/* Read off the files with a hex dump. */
START_TEST(entries_of_real_indexes)
{
    struct krc_buffer file = fixture_read(SEGMENTS "00000000000000000233.index");
    ck_assert_uint_eq(krc_index_entries(file.data, file.len), 6);
    struct krc_index_entry entry = krc_index_entry(file.data, 1, 233);
    ck_assert_int_eq(entry.offset, 233 + 64);
    ck_assert_int_eq(entry.position, 9156);
    krc_buffer_free(&file);

    file = fixture_read(SEGMENTS "00000000000000000233.timeindex");
    ck_assert_uint_eq(krc_timeindex_entries(file.data, file.len), 7);
    struct krc_timeindex_entry time = krc_timeindex_entry(file.data, 6, 233);
    ck_assert_int_eq(time.timestamp_ms, 0x1a2287edffd);
    ck_assert_int_eq(time.offset, 233 + 0xb2);
    krc_buffer_free(&file);
}
END_TEST

START_TEST(entries_before_the_padding)
{
    uint8_t file[60] = {0};
    ck_assert_uint_eq(krc_index_entries(file, sizeof file), 0);
    ck_assert_uint_eq(krc_index_entries(file, 0), 0);
    file[15] = 1;
    ck_assert_uint_eq(krc_index_entries(file, sizeof file), 2);
    ck_assert_uint_eq(krc_index_entries(file, 15), 0); /* the second is torn */
    ck_assert_uint_eq(krc_timeindex_entries(file, sizeof file), 2);
}
END_TEST

START_TEST(a_transaction_index)
{
    struct krc_buffer file = fixture_read(SEGMENTS "00000000000000000118.txnindex");
    ck_assert_uint_eq(file.len % KRC_TXNINDEX_ENTRY, 0);
    for (size_t i = 0; i < file.len / KRC_TXNINDEX_ENTRY; i++) {
        struct krc_txnindex_entry entry = krc_txnindex_entry(file.data, i);
        ck_assert_int_eq(entry.version, 0);
        ck_assert_int_ge(entry.last_offset, 118);
        ck_assert_int_lt(entry.last_offset, 233);
        ck_assert_int_lt(entry.first_offset, entry.last_offset);
    }
    krc_buffer_free(&file);
}
END_TEST

START_TEST(a_producer_snapshot)
{
    struct krc_buffer file = fixture_read("kafka-4.3.1/txns-open-0/00000000000000000199.snapshot");
    int32_t count;
    ck_assert_int_eq(krc_snapshot_parse(file.data, file.len, &count, &error), KRC_OK);
    int64_t open = -1;
    for (int32_t i = 0; i < count; i++) {
        struct krc_producer_state state = krc_snapshot_producer(file.data, i);
        ck_assert_int_lt(state.last_offset, 199);
        if (state.transaction_start >= 0)
            open = state.transaction_start;
    }
    ck_assert_int_eq(open, 136); /* the last stable offset of that log */

    uint8_t *data = file.data;
    ck_assert_int_eq(krc_snapshot_parse(data, 9, &count, &error), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "a producer snapshot of only 9 bytes");
    data[12] ^= 1;
    ck_assert_int_eq(krc_snapshot_parse(data, file.len, &count, &error), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "a producer snapshot with a wrong checksum");
    data[12] ^= 1;
    krc_put_be32(data + 6, 0x7fffffff);
    krc_put_be32(data + 2, krc_crc32c(0, data + 6, file.len - 6));
    ck_assert_int_eq(krc_snapshot_parse(data, file.len, &count, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "bytes for 2147483647 producers"));
    data[1] = 2;
    ck_assert_int_eq(krc_snapshot_parse(data, file.len, &count, &error), KRC_E_UNSUPPORTED);
    ck_assert_str_eq(error.message, "a producer snapshot of version 2, not 1");
    krc_buffer_free(&file);
}
END_TEST

static char lines[256];

static int note_line(void *arg, const char *topic, size_t len, int32_t partition, int64_t offset)
{
    (void)arg;
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%.*s/%d=%lld;", (int)len, topic, (int)partition,
             (long long)offset);
    return KRC_OK;
}

static int parse_checkpoint(const char *text)
{
    lines[0] = '\0';
    return krc_checkpoint_parse(text, strlen(text), note_line, NULL, &error);
}

START_TEST(checkpoints)
{
    ck_assert_int_eq(parse_checkpoint("0\n2\na-b 0 25\nc.d 12 9223372036854775807\n"), KRC_OK);
    ck_assert_str_eq(lines, "a-b/0=25;c.d/12=9223372036854775807;");
    ck_assert_int_eq(parse_checkpoint("0\n0\n"), KRC_OK);
    ck_assert_int_eq(parse_checkpoint(""), KRC_OK); /* as Kafka: never written */
    ck_assert_int_eq(parse_checkpoint("0\n1\na 1 2"), KRC_OK);

    static const struct {
        const char *text, *message;
    } bad[] = {
        {"1\n0\n", "a checkpoint that does not begin with version 0"},
        {"zero\n", "a checkpoint that does not begin with version 0"},
        {"0\n", "a checkpoint without the count of its lines"},
        {"0\n-1\n", "a checkpoint without the count of its lines"},
        {"0\n2\na 0 1\n", "a checkpoint of 1 lines that should have 2"},
        {"0\n0\na 0 1\n", "a checkpoint of 1 lines that should have 0"},
        {"0\n1\na 0\n", "a checkpoint whose line 3 is not TOPIC PARTITION OFFSET"},
        {"0\n1\n 0 1\n", "a checkpoint whose line 3 is not TOPIC PARTITION OFFSET"},
        {"0\n1\na 0 -1\n", "a checkpoint whose line 3 is not TOPIC PARTITION OFFSET"},
        {"0\n1\na 0 9223372036854775808\n",
         "a checkpoint whose line 3 is not TOPIC PARTITION OFFSET"},
        {"0\n1\na 2147483648 1\n", "a checkpoint whose line 3 is not TOPIC PARTITION OFFSET"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_checkpoint(bad[i].text), KRC_E_CORRUPT);
        ck_assert_str_eq(error.message, bad[i].message);
    }
}
END_TEST

static int parse_epochs(const char *text, struct krc_epoch_start **epochs, size_t *count)
{
    return krc_epochs_parse(text, strlen(text), epochs, count, &error);
}

START_TEST(leader_epochs)
{
    struct krc_epoch_start *epochs;
    size_t count;
    ck_assert_int_eq(parse_epochs("0\n2\n0 0\n7 150\n", &epochs, &count), KRC_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(epochs[1].epoch, 7);
    ck_assert_int_eq(epochs[1].start_offset, 150);
    free(epochs);
    ck_assert_int_eq(parse_epochs("0\n0\n", &epochs, &count), KRC_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_ptr_null(epochs);

    static const struct {
        const char *text, *message;
    } bad[] = {
        {"0\n2\n5 0\n5 1\n", "a leader epoch checkpoint that does not rise at line 4"},
        {"0\n2\n5 3\n6 1\n", "a leader epoch checkpoint that does not rise at line 4"},
        {"0\n1\n5\n", "a leader epoch checkpoint whose line 3 is not EPOCH OFFSET"},
        {"0\n1\nt 5 1\n", "a leader epoch checkpoint whose line 3 is not EPOCH OFFSET"},
        {"0\n1\n5 1\n6 2\n", "a checkpoint of 2 lines that should have 1"},
        {"0\n2147483647\n5 1\n", "a checkpoint of 0 lines that should have 2147483647"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_epochs(bad[i].text, &epochs, &count), KRC_E_CORRUPT);
        ck_assert_str_eq(error.message, bad[i].message);
        ck_assert_ptr_null(epochs);
    }
}
END_TEST

static int parse_metadata(const char *text, struct krc_uuid *id)
{
    return krc_partition_metadata_parse(text, strlen(text), id, &error);
}

START_TEST(topic_ids)
{
    /* what base64 -d makes of it, with + and / for - and _ */
    static const uint8_t bytes[16] = {0xb3, 0x6a, 0x93, 0x35, 0x72, 0x47, 0x4e, 0xc6,
                                      0x97, 0x1b, 0xe5, 0x1d, 0x1f, 0x7b, 0xf5, 0x0c};
    struct krc_uuid id;
    ck_assert_int_eq(parse_metadata("version: 0\ntopic_id: s2qTNXJHTsaXG-UdH3v1DA", &id), KRC_OK);
    ck_assert_mem_eq(id.bytes, bytes, 16);
    ck_assert_int_eq(parse_metadata("version: 1\ntopic_id: s2qTNXJHTsaXG-UdH3v1DA", &id),
                     KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "a partition.metadata that is not of version 0");
    static const char *const bad[] = {"version: 0\n", "version: 0\ntopic_id: s2qT",
                                      "version: 0\ntopic_id: s2qTNXJHTsaXG+UdH3v1DA"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse_metadata(bad[i], &id), KRC_E_CORRUPT);
        ck_assert_str_eq(error.message,
                         "a partition.metadata without a topic id of 22 base64url characters");
    }
}
END_TEST

START_TEST(cluster_ids)
{
    struct krc_buffer file = fixture_read("kafka-4.3.1/meta.properties");
    char id[64];
    krc_meta_properties_cluster((const char *)file.data, file.len, id, sizeof id);
    ck_assert_str_eq(id, "MkU3OEVBNTcwNTJENDM2Qg");
    krc_meta_properties_cluster((const char *)file.data, file.len, id, 22); /* no room */
    ck_assert_str_eq(id, "");
    krc_meta_properties_cluster("version=0\n", 10, id, sizeof id);
    ck_assert_str_eq(id, "");
    krc_buffer_free(&file);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        entries_of_real_indexes, entries_before_the_padding, a_transaction_index,
        a_producer_snapshot, checkpoints, leader_epochs, topic_ids, cluster_ids,
    };
    return run_tests("logdir: files", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
