/*
 * The group log of log folders: what Kafka's broker reported of the fixture's groups, and logs made
 * by hand for what the fixture does not have.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "base/uuid.h"
#include "tests/support/build.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"

static krc_error error;
static struct krc_buffer bytes, key, value;
static int64_t next_offset;

/* ---- Logs by hand -------------------------------------------------------------------------- */

static void setup(void)
{
    tempdir_make();
    tempdir_mkdir("data");
    tempdir_mkdir("data/__consumer_offsets-0");
    bytes.len = key.len = value.len = 0;
    next_offset = 0;
}

static void teardown(void)
{
    krc_buffer_free(&bytes);
    krc_buffer_free(&key);
    krc_buffer_free(&value);
    tempdir_remove();
}

static void put_string(struct krc_buffer *out, const char *text)
{
    build_int(out, (int64_t)strlen(text), 2);
    build_append(out, text, strlen(text));
}

/* A string of flexible versions, of less than 127 bytes; NULL for null. */
static void put_compact(struct krc_buffer *out, const char *text)
{
    build_int(out, text == NULL ? 0 : (int64_t)strlen(text) + 1, 1);
    if (text != NULL)
        build_append(out, text, strlen(text));
}

/* A record of key and value, which are empty again then; a value of no bytes is null. */
static void put_record(int64_t producer)
{
    struct build_record record = {.key = {key.data, key.len}};
    if (value.len > 0)
        record.value = (struct krc_bytes){value.data, value.len};
    build_batch(&bytes, &(struct build_batch){.base_offset = next_offset++,
                                              .producer_id = producer,
                                              .transactional = producer != 0,
                                              .records = &record,
                                              .count = 1});
    key.len = value.len = 0;
}

static void put_marker(int64_t producer, int type)
{
    build_marker(&bytes, next_offset++, producer, 0, type);
}
enum { ABORT, COMMIT };

static void begin_key(int type, const char *group)
{
    build_int(&key, type, 2);
    put_string(&key, group);
}

static void begin_commit(int type, const char *group, const char *topic, int partition)
{
    begin_key(type, group);
    put_string(&key, topic);
    build_int(&key, partition, 4);
}

/* Group g's offset of t-0, version 3; -1: its tombstone. */
static void commit(int64_t offset, int64_t producer)
{
    begin_commit(1, "g", "t", 0);
    if (offset >= 0) {
        build_int(&value, 3, 2);
        build_int(&value, offset, 8);
        build_int(&value, 4, 4);
        put_string(&value, "m");
        build_int(&value, 1000, 8);
    }
    put_record(producer);
}

static krc_committed_list *offsets;
static krc_groups *groups;

static int read_folder(const char *path, const char *group)
{
    krc *handle = consume_open(path, NULL);
    offsets = krc_committed_new();
    groups = krc_groups_new();
    int rc = krc_group_log_read(handle, group, offsets, groups, &error);
    krc_close(handle);
    return rc;
}

static int read_log(const char *group)
{
    tempdir_write("data/__consumer_offsets-0/00000000000000000000.log", bytes.data, bytes.len);
    return read_folder(tempdir_path("data"), group);
}

static void forget(void)
{
    krc_committed_free(offsets);
    krc_groups_free(groups);
}

/* Group g's offset of t-0, -1: none. */
static int64_t committed(void)
{
    ck_assert_msg(read_log(NULL) == KRC_OK, "%s", error.message);
    const struct krc_committed *row = krc_committed_find(offsets, "g", "t", 0);
    int64_t offset = row != NULL ? row->offset : -1;
    forget();
    return offset;
}

/* ---- The fixture --------------------------------------------------------------------------- */

/* A line as groups.jsonl.gz has them, where its row names no text that JSON would escape. */
static void write_line(const struct krc_committed *row, char *line, size_t size)
{
    snprintf(line, size,
             "{\"group\":\"%s\",\"topic\":\"%s\",\"partition\":%d,\"offset\":%lld,"
             "\"metadata\":\"%s\"}\n",
             row->group, row->topic, row->partition, (long long)row->offset, row->metadata);
}

START_TEST(offsets_are_those_the_broker_reported)
{
    char line[512], wanted[4096] = "";
    const struct krc_committed *row;
    size_t lines = 0, rows = 0;
    FILE *pipe = popen("gzip -dc " FIXTURES "expected/kafka-4.3.1/groups.jsonl.gz", "r");
    ck_assert_ptr_nonnull(pipe);
    while (fgets(line, sizeof line, pipe) != NULL) {
        strcat(wanted, line);
        lines++;
    }
    ck_assert_int_eq(pclose(pipe), 0);
    ck_assert_uint_eq(lines, 7);
    ck_assert_int_eq(read_folder(FIXTURES "kafka-4.3.1", NULL), KRC_OK);
    for (; (row = krc_committed_at(offsets, rows)) != NULL; rows++) {
        write_line(row, line, sizeof line);
        ck_assert_msg(strstr(wanted, line) != NULL, "%s", line);
        ck_assert_int_gt(row->commit_time_ms, 1795975000000);
    }
    ck_assert_uint_eq(rows, lines);
    forget();
}
END_TEST

/* partition.metadata has txns's id as text; the group log's records have its bytes. */
START_TEST(topic_ids_are_those_of_the_folders)
{
    char id[KRC_UUID_LETTERS + 1], wanted[64];
    FILE *in = fopen(FIXTURES "kafka-4.3.1/txns-0/partition.metadata", "r");
    ck_assert_ptr_nonnull(in);
    ck_assert_int_eq(fscanf(in, "version: 0 topic_id: %63s", wanted), 1);
    fclose(in);
    ck_assert_int_eq(read_folder(FIXTURES "kafka-4.3.1", "billing"), KRC_OK);
    ck_assert_ptr_null(krc_committed_at(offsets, 2));
    krc_uuid_format(&krc_committed_at(offsets, 1)->topic_id, id);
    ck_assert_str_eq(id, wanted);
    struct krc_uuid back;
    ck_assert(krc_uuid_parse(id, &back));
    ck_assert_mem_eq(&back, &krc_committed_at(offsets, 1)->topic_id, sizeof back);
    forget();
}
END_TEST

START_TEST(groups_are_those_that_are_left)
{
    ck_assert_int_eq(read_folder(FIXTURES "kafka-4.3.1", NULL), KRC_OK);
    ck_assert_ptr_null(krc_groups_find(groups, "gone"));
    ck_assert_ptr_null(krc_groups_find(groups, "manual")); /* it only ever committed */
    ck_assert_str_eq(krc_groups_find(groups, "audit")->type, "classic");
    ck_assert_str_eq(krc_groups_find(groups, "modern")->type, "consumer");
    for (size_t i = 0; krc_groups_at(groups, i) != NULL; i++)
        ck_assert_str_eq(krc_groups_at(groups, i)->state, "Empty");
    forget();
}
END_TEST

START_TEST(a_folder_without_a_group_log_says_so)
{
    ck_assert_int_eq(read_folder(FIXTURES "kafka-0.8.2", NULL), KRC_E_NOT_FOUND);
    ck_assert_str_eq(error.message, "the log folders have no __consumer_offsets");
    forget();
}
END_TEST

/* ---- Transactions, and what removes --------------------------------------------------------- */

START_TEST(commits_of_open_transactions_are_not_seen)
{
    commit(5, 0);
    commit(9, 70);
    ck_assert_int_eq(committed(), 5);
    put_marker(70, ABORT);
    ck_assert_int_eq(committed(), 5);
    commit(10, 70);
    put_marker(70, COMMIT);
    ck_assert_int_eq(committed(), 10);
}
END_TEST

/* -1: nothing is pending; -2: something, and there is no stable offset. */
static int64_t pending(void)
{
    ck_assert_msg(read_log(NULL) == KRC_OK, "%s", error.message);
    const struct krc_committed *row = krc_committed_find(offsets, "g", "t", 0);
    int64_t offset = row == NULL || !row->is_pending ? -1
                     : row->offset < 0               ? -2
                                                     : row->pending_offset;
    forget();
    return offset;
}

START_TEST(commits_of_open_transactions_are_pending)
{
    commit(4, 70);
    ck_assert_int_eq(pending(), -2);
    commit(5, 0); /* which counts, whatever comes of the one before */
    ck_assert_int_eq(pending(), -1);
    commit(9, 71);
    ck_assert_int_eq(pending(), 9);
    commit(10, 71);
    ck_assert_int_eq(pending(), 10);
    ck_assert_int_eq(committed(), 5);
    put_marker(71, ABORT);
    ck_assert_int_eq(pending(), -1);
    commit(11, 71);
    commit(-1, 0);
    ck_assert_int_eq(pending(), -1);
    commit(12, 71);
    put_marker(71, COMMIT);
    ck_assert_int_eq(pending(), -1);
    ck_assert_int_eq(committed(), 12);
}
END_TEST

/* A coordinator does not wait for another group's transaction, as a consumer would. */
START_TEST(commits_behind_an_open_transaction_are_seen)
{
    begin_commit(1, "other", "t", 0);
    build_append(&value, "\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0", 20);
    put_record(70);
    commit(6, 0);
    ck_assert_int_eq(committed(), 6);
}
END_TEST

START_TEST(the_higher_record_counts_not_the_later_marker)
{
    commit(9, 70);
    commit(5, 0);
    put_marker(70, COMMIT);
    ck_assert_int_eq(committed(), 5);
    commit(7, 71);
    commit(8, 72);
    put_marker(72, COMMIT);
    put_marker(71, COMMIT);
    ck_assert_int_eq(committed(), 8);
}
END_TEST

START_TEST(a_tombstone_drops_pending_commits_too)
{
    commit(5, 0);
    commit(9, 70);
    commit(-1, 0);
    ck_assert_int_eq(committed(), -1);
    put_marker(70, COMMIT);
    ck_assert_int_eq(committed(), -1);
    commit(3, 70);
    put_marker(70, COMMIT);
    ck_assert_int_eq(committed(), 3);
}
END_TEST

/* ---- Versions ------------------------------------------------------------------------------ */

START_TEST(commits_of_every_version)
{
    for (int version = 0; version <= 4; version++) {
        char group[] = "v0";
        group[1] = (char)('0' + version);
        begin_commit(version % 2, group, "t", 1);
        build_int(&value, version, 2);
        build_int(&value, 100 + version, 8);
        if (version >= 3)
            build_int(&value, 6, 4);
        if (version == 4)
            put_compact(&value, "meta");
        else
            put_string(&value, "meta");
        build_int(&value, 777, 8);
        if (version == 1)
            build_int(&value, 888, 8);
        if (version == 4) { /* two tags: the topic's id, and one that is not known */
            build_append(&value, "\2\0\x10" "0123456789abcdef" "\7\1x", 22);
        }
        put_record(0);
    }
    ck_assert_msg(read_log(NULL) == KRC_OK, "%s", error.message);
    for (size_t i = 0; i <= 4; i++) {
        const struct krc_committed *row = krc_committed_at(offsets, i);
        ck_assert_int_eq(row->offset, 100 + (int64_t)i);
        ck_assert_int_eq(row->leader_epoch, i < 3 ? -1 : 6);
        ck_assert_str_eq(row->metadata, "meta");
        ck_assert_int_eq(row->commit_time_ms, 777);
        ck_assert_int_eq(row->topic_id.bytes[15], i == 4 ? 'f' : 0);
    }
    forget();
}
END_TEST

/* Keys of types 0 and 1 name the same. */
START_TEST(old_keys_and_new_ones_are_one)
{
    begin_commit(0, "g", "t", 0);
    build_append(&value, "\0\0\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\0", 20);
    put_record(0);
    ck_assert_int_eq(committed(), 7);
    commit(8, 0);
    ck_assert_int_eq(committed(), 8);
    begin_commit(0, "g", "t", 0);
    put_record(0);
    ck_assert_int_eq(committed(), -1);
}
END_TEST

static void put_classic_member(int version, const char *id, const char *topic, int partition)
{
    struct krc_buffer assignment = {0};
    build_int(&assignment, 0, 2);
    build_int(&assignment, 1, 4);
    put_string(&assignment, topic);
    build_int(&assignment, 2, 4);
    build_int(&assignment, partition, 4);
    build_int(&assignment, partition + 1, 4);
    build_int(&assignment, -1, 4);
    void (*string)(struct krc_buffer *, const char *) = version == 4 ? put_compact : put_string;
    string(&value, id);
    if (version == 4)
        put_compact(&value, "static");
    else if (version == 3)
        build_int(&value, -1, 2);
    string(&value, "client");
    string(&value, "/10.0.0.1");
    if (version >= 1)
        build_int(&value, 1, 4);
    build_int(&value, 2, 4);
    build_int(&value, version == 4 ? 1 : 0, version == 4 ? 1 : 4);
    build_int(&value, (int64_t)assignment.len + (version == 4), version == 4 ? 1 : 4);
    build_append(&value, assignment.data, assignment.len);
    if (version == 4)
        build_int(&value, 0, 1);
    krc_buffer_free(&assignment);
}

START_TEST(classic_groups_of_every_version)
{
    for (int version = 0; version <= 4; version++) {
        char group[] = "v0";
        group[1] = (char)('0' + version);
        begin_key(2, group);
        build_int(&value, version, 2);
        (version == 4 ? put_compact : put_string)(&value, "consumer");
        build_int(&value, 3, 4);
        (version == 4 ? put_compact : put_string)(&value, "range");
        if (version == 4)
            put_compact(&value, NULL);
        else
            build_int(&value, -1, 2);
        if (version >= 2)
            build_int(&value, 555, 8);
        build_int(&value, version == 4 ? 3 : 2, version == 4 ? 1 : 4);
        put_classic_member(version, "one", "t", 0);
        put_classic_member(version, "two", "t", 2);
        if (version == 4)
            build_int(&value, 0, 1);
        put_record(0);
    }
    ck_assert_msg(read_log(NULL) == KRC_OK, "%s", error.message);
    for (size_t i = 0; i <= 4; i++) {
        const struct krc_group *group = krc_groups_at(groups, i);
        ck_assert_str_eq(group->type, "classic");
        ck_assert_str_eq(group->state, "Stable");
        ck_assert_uint_eq(group->member_count, 2);
        ck_assert_str_eq(krc_group_owner(group, "t", 1)->id, "one");
        ck_assert_str_eq(krc_group_owner(group, "t", 2)->id, "two");
        ck_assert_ptr_null(krc_group_owner(group, "t", 4));
        ck_assert_ptr_null(krc_group_owner(group, "u", 1));
        ck_assert_str_eq(group->members[1].client_id, "client");
        ck_assert_str_eq(group->members[1].host, "/10.0.0.1");
        if (i == 4)
            ck_assert_str_eq(group->members[1].instance_id, "static");
        else
            ck_assert_ptr_null(group->members[1].instance_id);
    }
    forget();
}
END_TEST

/* ---- KIP-848 ------------------------------------------------------------------------------- */

static void put_epoch(int type, int epoch)
{
    begin_key(type, "g");
    build_int(&value, 0, 2);
    build_int(&value, epoch, 4);
    build_int(&value, 0, 1);
    put_record(0);
}

static void put_member(const char *id)
{
    begin_key(5, "g");
    put_string(&key, id);
    build_int(&value, 0, 2);
    put_compact(&value, NULL);
    put_compact(&value, "rack");
    put_compact(&value, "client");
    put_compact(&value, "/10.0.0.2");
    build_append(&value, "\1\0\0\0\0\1\0\0", 8);
    put_record(0);
}

static void put_assignment(const char *id, int epoch, int state, const char *topic_id)
{
    begin_key(8, "g");
    put_string(&key, id);
    build_int(&value, 0, 2);
    build_int(&value, epoch, 4);
    build_int(&value, epoch - 1, 4);
    build_int(&value, state, 1);
    build_int(&value, 2, 1);
    build_append(&value, topic_id, 16);
    build_append(&value, "\2\0\0\0\3\0" "\1\0", 8);
    put_record(0);
}

static const char *state_now(void)
{
    static char state[32];
    ck_assert_msg(read_log("g") == KRC_OK, "%s", error.message);
    const struct krc_group *group = krc_groups_at(groups, 0);
    snprintf(state, sizeof state, "%s", group == NULL ? "none" : group->state);
    forget();
    return state;
}

START_TEST(states_of_consumer_groups)
{
    static const char id[] = "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xf";
    tempdir_mkdir("data/t-3");
    tempdir_write_text("data/t-3/partition.metadata",
                       "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw");
    tempdir_write("data/t-3/00000000000000000000.log", "", 0);
    put_epoch(3, 1);
    ck_assert_str_eq(state_now(), "Empty");
    put_member("a");
    put_member("b");
    ck_assert_str_eq(state_now(), "Assigning");
    put_epoch(6, 1);
    ck_assert_str_eq(state_now(), "Reconciling");
    put_assignment("a", 1, 0, id);
    put_assignment("b", 1, 1, "no such topic ID");
    ck_assert_str_eq(state_now(), "Reconciling");
    put_assignment("b", 1, 0, "no such topic ID");
    ck_assert_str_eq(state_now(), "Stable");
    ck_assert_int_eq(read_log(NULL), KRC_OK);
    const struct krc_member *owner = krc_group_owner(krc_groups_at(groups, 0), "t", 3);
    ck_assert_str_eq(owner->id, "a");
    ck_assert_str_eq(owner->host, "/10.0.0.2");
    ck_assert_uint_eq(krc_groups_at(groups, 0)->members[1].owned_count, 0);
    forget();
    begin_key(5, "g"); /* b leaves; its assignment stays a moment longer */
    put_string(&key, "b");
    put_record(0);
    ck_assert_str_eq(state_now(), "Stable");
    put_epoch(3, 2);
    ck_assert_str_eq(state_now(), "Assigning");
    begin_key(3, "g");
    put_record(0);
    ck_assert_str_eq(state_now(), "none");
}
END_TEST

/* ---- What is no such record ----------------------------------------------------------------- */

START_TEST(other_types_are_passed_over)
{
    for (int type = 4; type <= 23; type++) {
        if (type == 5 || type == 6 || type == 8)
            continue;
        build_int(&key, type, 2);
        build_append(&value, "x", 1);
        put_record(0);
    }
    commit(5, 0);
    ck_assert_int_eq(committed(), 5);
}
END_TEST

static void check_fault(int code, const char *message)
{
    ck_assert_int_eq(read_log(NULL), code);
    ck_assert_str_eq(error.message, message);
    ck_assert_str_eq(error.topic, "__consumer_offsets");
    ck_assert_int_eq(error.offset, 1);
    forget();
    bytes.len = 0;
    next_offset = 0;
    commit(1, 0);
}

START_TEST(faults_name_partition_and_offset)
{
    commit(1, 0);
    begin_commit(1, "g", "t", 0);
    key.len--;
    put_record(0);
    check_fault(KRC_E_CORRUPT, "__consumer_offsets-0, offset 1: a key of 11 bytes is not what its "
                               "type 1 demands");
    put_record(0);
    check_fault(KRC_E_CORRUPT, "__consumer_offsets-0, offset 1: a key of 0 bytes is not what its "
                               "type 0 demands");
    begin_commit(1, "g", "t", 0);
    build_append(&value, "\0\5", 2);
    put_record(0);
    check_fault(KRC_E_UNSUPPORTED, "__consumer_offsets-0, offset 1: an offset commit has version "
                                   "5: those up to 4 are known");
    begin_commit(1, "g", "t", 0);
    build_append(&value, "\0\3\0", 3);
    put_record(0);
    check_fault(KRC_E_CORRUPT, "__consumer_offsets-0, offset 1: an offset commit is not what its "
                               "version 3 demands");
    begin_key(2, "g"); /* two billion members */
    build_append(&value, "\0\0\0\0\0\0\0\0\0\0\0\0\x7f\xff\xff\xff", 16);
    put_record(0);
    check_fault(KRC_E_CORRUPT, "__consumer_offsets-0, offset 1: a classic group is not what its "
                               "version 0 demands");
    build_append(&key, "\0\1\0\1\0\0\1t\0\0\0\0", 12); /* the group's name is a NUL */
    put_record(0);
    check_fault(KRC_E_UNSUPPORTED, "__consumer_offsets-0, offset 1: a name or a commit's metadata "
                                   "holds a NUL byte, which no text of krc's can carry");
}
END_TEST

/* The rest of the group is read. */
START_TEST(topics_that_cannot_be)
{
    static const char *const names[] = {"../../victim\x1b[2J", "/t", "..", "", "a b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin_commit(1, "g", names[i], 0);
        build_append(&value, "\0\3\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
        put_record(0);
    }
    begin_key(1, "g"); /* "t", were it cut at its NUL */
    build_append(&key, "\0\2t\0\0\0\0\1", 8);
    build_append(&value, "\0\3\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
    put_record(0);
    commit(4, 0);
    ck_assert_msg(read_log("g") == KRC_OK, "%s", error.message);
    ck_assert_str_eq(krc_committed_left_out(offsets), "");
    ck_assert_int_eq(krc_committed_find(offsets, "g", "t", 0)->offset, 4);
    ck_assert_ptr_null(krc_committed_at(offsets, 1));
    forget();
}
END_TEST

/* A group that is not asked for does no harm. */
START_TEST(one_group_is_read_alone)
{
    commit(4, 0);
    begin_commit(1, "h", "t", 0);
    build_append(&value, "\0\3\0", 3);
    put_record(0);
    ck_assert_int_eq(read_log("g"), KRC_OK);
    ck_assert_int_eq(krc_committed_at(offsets, 0)->offset, 4);
    ck_assert_ptr_null(krc_committed_at(offsets, 1));
    forget();
    ck_assert_int_eq(read_log("h"), KRC_E_CORRUPT);
    forget();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        offsets_are_those_the_broker_reported,
        topic_ids_are_those_of_the_folders,
        groups_are_those_that_are_left,
        a_folder_without_a_group_log_says_so,
        commits_of_open_transactions_are_not_seen,
        commits_of_open_transactions_are_pending,
        commits_behind_an_open_transaction_are_seen,
        the_higher_record_counts_not_the_later_marker,
        a_tombstone_drops_pending_commits_too,
        commits_of_every_version,
        old_keys_and_new_ones_are_one,
        classic_groups_of_every_version,
        states_of_consumer_groups,
        other_types_are_passed_over,
        faults_name_partition_and_offset,
        topics_that_cannot_be,
        one_group_is_read_alone,
    };
    return run_tests("admin: group log", tests, sizeof tests / sizeof *tests, setup, teardown);
}
