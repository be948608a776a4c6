/*
 * The i-th allocation fails, for every i: each call says KRC_E_NOMEM or does what it should, and
 * nothing is leaked (under ASan).  The linker puts the functions below in the place of malloc and
 * its like (tests.mk), in the library's code and here.
 */
#include <check.h>
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"
#include "tests/support/consume.h"
#include "tests/support/joined.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"

/* Until one fails; below 0: none does.  Of this thread: brokers have theirs. */
static _Thread_local long allocations_left = -1;

static bool fails(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

#define WRAP(result, name, parameters, arguments) \
    result __real_##name parameters;              \
    result __wrap_##name parameters;              \
    result __wrap_##name parameters               \
    {                                             \
        return fails() ? NULL : __real_##name arguments; \
    }
WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *data, size_t size), (data, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t len), (text, len))

/* What is read, and what must come of it. */
struct job {
    const char *folder, *topic; /* folder NULL: the brokers of tests/support/serve.h */
    int partition;
    int64_t start;
    const char *isolation, *store;
    int64_t delivered, position; /* in the end */
};

static int configure(krc_config *config, const struct job *job, krc_error *error)
{
    int rc = job->folder != NULL
                 ? krc_config_set(config, "log.dirs", job->folder, error)
                 : krc_config_set(config, "bootstrap.servers", serve_address(), error);
    if (rc == 0)
        rc = krc_config_set(config, "retry.backoff.ms", "1", error);
    if (rc == 0)
        rc = krc_config_set(config, "reconnect.backoff.ms", "1", error);
    if (rc == 0)
        rc = krc_config_set(config, "isolation.level", job->isolation, error);
    if (rc == 0)
        rc = krc_config_set(config, "offset.store.file", job->store, error);
    return rc;
}

static int read_all(krc *handle, const struct job *job, krc_error *error)
{
    krc_batch *batch;
    struct krc_batch_info info;
    int rc;
    while ((rc = krc_poll(handle, -1, &batch)) == 1) {
        struct krc_record record;
        while (krc_next(batch, &record) == 1)
            continue;
        krc_batch_info(batch, &info);
        rc = krc_ack(handle, job->topic, job->partition, info.next_offset, error);
        krc_release(batch);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        *error = *krc_last_error(handle);
    return rc;
}

static int ask_and_read(krc *handle, const struct job *job, krc_error *error)
{
    struct krc_log_offsets offsets;
    int64_t offset;
    int rc = krc_load_topics(handle, &job->topic, 1, error);
    if (rc == 0)
        rc = krc_log_offsets(handle, job->topic, job->partition, &offsets, error);
    if (rc == 0)
        rc = krc_offset_for_time(handle, job->topic, job->partition, 1795975730724, &offset, error);
    if (rc == 0)
        rc = krc_assign(handle, job->topic, job->partition, job->start,
                        KRC_PRESENT_END, error);
    if (rc == 0)
        rc = read_all(handle, job, error);
    if (rc == 0 && job->store[0] != '\0')
        rc = krc_commit(handle, error);
    return rc;
}

static int run(const struct job *job, struct krc_position *at)
{
    krc_error error = {0};
    krc *handle = NULL;
    krc_config *config = krc_config_new();
    int rc = config == NULL ? KRC_E_NOMEM : configure(config, job, &error);
    if (rc == 0)
        rc = krc_open(&handle, config, &error);
    if (rc == 0)
        rc = ask_and_read(handle, job, &error);
    if (rc == 0)
        rc = krc_position(handle, job->topic, job->partition, at);
    if (rc < 0 && config != NULL && error.code != KRC_OK)
        ck_assert_int_eq(error.code, rc);
    krc_close(handle);
    krc_config_free(config);
    return rc;
}

static int count_reset(void *count, const char *id, const char *topic, int32_t partition,
                       const struct krc_store_reset *reset)
{
    (void)id, (void)topic, (void)partition, (void)reset;
    ++*(int *)count;
    return 0;
}

/* A start below the log start offset is a reset, and the store must tell of it. */
static void check_store(const struct job *job)
{
    struct krc_store *store;
    int resets = 0;
    ck_assert_int_eq(krc_store_open(&store, job->store, KRC_STORE_EXISTING, NULL), 0);
    ck_assert_int_eq(krc_store_each_reset(store, NULL, count_reset, &resets, NULL), 0);
    ck_assert_int_eq(resets, job->start >= 0);
    krc_store_close(store);
}

static void check_job(const struct job *job)
{
    long failed = 0;
    for (long i = 0;; i++) {
        struct krc_position at;
        if (job->store[0] != '\0')
            unlink(job->store);
        allocations_left = i;
        int rc = run(job, &at);
        bool all = allocations_left >= 0;
        allocations_left = -1;
        ck_assert_msg(rc == 0 || rc == KRC_E_NOMEM, "allocation %ld: %s", i, krc_code_name(rc));
        failed += rc < 0;
        if (rc == 0) {
            ck_assert_int_eq(at.position, job->position);
            ck_assert_int_eq(at.read.delivered, job->delivered);
            account_text(&at.read);
            if (job->store[0] != '\0')
                check_store(job);
        }
        if (all)
            break;
    }
    ck_assert_int_gt(failed, 30);
}

START_TEST(transactions)
{
    check_job(&(struct job){FIXTURES "kafka-4.3.1/txns-open-0", "txns-open", 0, KRC_EARLIEST,
                            "read_committed", "", 78, 136});
}
END_TEST

START_TEST(from_within_transactions)
{
    check_job(&(struct job){FIXTURES "kafka-4.3.1/txns-open-0", "txns-open", 0, 100,
                            "read_committed", "", 29, 136});
}
END_TEST

START_TEST(a_whole_data_folder)
{
    check_job(&(struct job){FIXTURES "kafka-4.3.1", "txns-segments", 0, KRC_EARLIEST,
                            "read_uncommitted", "", 921, 980});
}
END_TEST

START_TEST(old_wrappers)
{
    check_job(&(struct job){FIXTURES "kafka-0.11-upgraded-from-0.10/v1-gzip-0", "v1-gzip", 0,
                            KRC_EARLIEST, "read_committed", "", 300, 300});
}
END_TEST

START_TEST(with_a_store)
{
    char store[256], folder[256];
    make_setup();
    make_plain(5, 20);
    make_batch(25, 5, 7);
    make_marker(30, 7, COMMIT);
    make_segment(5);
    snprintf(store, sizeof store, "%s", tempdir_path("krc.db"));
    snprintf(folder, sizeof folder, "%s", tempdir_path("data"));
    check_job(&(struct job){folder, "t", 0, KRC_STORED, "read_committed", store, 25, 31});
    check_job(&(struct job){folder, "t", 0, 0, "read_committed", store, 25, 31});
    make_teardown();
}
END_TEST

/* What is lost for want of memory on the way is asked for again. */
START_TEST(a_cluster)
{
    char store[256];
    tempdir_make();
    world_open();
    struct world_partition *p = &world_topic("t", 1)->partitions[0];
    put_plain(p, 5);
    put_txn(p, 1, 3);
    put_abort(p, 1);
    put_hole(p, 2);
    put_txn(p, 2, 2);
    put_commit(p, 2);
    serve_begin();
    snprintf(store, sizeof store, "%s", tempdir_path("krc.db"));
    check_job(&(struct job){NULL, "t", 0, KRC_STORED, "read_committed", store, 7, 14});
    serve_end();
    world_close();
    tempdir_remove();
}
END_TEST

static int sum(const char *sql)
{
    int value = joined_query(sql);
    return value < 0 ? 0 : value;
}

/* A member of a group dies of it somewhere, and the next run has everything, once.  Every
 * MEMBER_STEP-th allocation, for each run takes its time. */
enum { MEMBER_STEP = 3 };

static bool look_with_memory(void *arg)
{
    long kept = allocations_left;
    allocations_left = -1;
    bool ends = joined_look(arg);
    allocations_left = kept;
    return ends;
}

static void check_member(bool is_classic)
{
    char to[560];
    long failed = 0;
    bool all = false;
    int records = 3 * JOINED_RECORDS;
    joined_begin(is_classic);
    snprintf(to, sizeof to, "sqlite:%s", joined.database);
    joined.options.to = to;
    joined.options.stop = look_with_memory;
    ck_assert_int_eq(mkdir(joined.out, 0700), 0);
    for (long i = 0; !all; i += MEMBER_STEP) {
        put_plain(&joined.p[i % 2], 1);
        records++;
        allocations_left = i;
        int rc = krc_replay(joined.config, &joined.options, &joined.error);
        all = allocations_left >= 0;
        allocations_left = -1;
        failed += rc < 0;
        for (int m = 1; m <= GROUP_MEMBERS; m++)
            if (group_m(m)->is_there) /* it could not even say goodbye: its session ends */
                group_remove(m);
        joined_ok(joined_replay());
        ck_assert_int_eq(sum("SELECT count(*) FROM records"), records);
        ck_assert_int_eq(sum("SELECT count(*) FROM pending"), 0);
    }
    ck_assert_int_gt(failed, 30 / MEMBER_STEP);
    joined_end();
}

START_TEST(a_member)
{
    check_member(false);
    check_member(true);
}
END_TEST

static int count_one(void *count, const struct krc_transaction *transaction)
{
    (void)transaction;
    ++*(int *)count;
    return 0;
}

/* What is looked at of a data folder, beside reading it. */
struct looking {
    krc_committed_list *offsets;
    krc_groups *groups;
    krc_transactional_ids *ids;
    struct krc_lag lags[2];
    int transactions;
};

static int look(krc *handle, struct looking *l, krc_error *error)
{
    struct krc_transactions summary;
    int rc = krc_group_log_read(handle, NULL, l->offsets, l->groups, error);
    if (rc == 0)
        rc = krc_measure_lag(handle, l->lags, 2, true, error);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = l->lags[i].error.code;
    if (rc == 0)
        rc = krc_transactional_ids_read(handle, l->ids, error);
    if (rc == 0)
        rc = krc_list_transactions(handle, "txns", 0, count_one, &l->transactions, &summary, error);
    return rc;
}

static void check_looks(const struct looking *l)
{
    ck_assert_ptr_nonnull(krc_committed_at(l->offsets, 6));
    ck_assert_ptr_nonnull(krc_groups_find(l->groups, "modern"));
    ck_assert_int_eq(l->lags[0].offsets, 132);
    ck_assert_int_gt(l->lags[1].records, l->lags[0].records);
    ck_assert_int_eq(l->transactions, 24);
}

START_TEST(administration)
{
    krc *handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
    long failed = 0;
    bool all = false;
    for (long i = 0; !all; i++) {
        krc_error error;
        struct looking l = {.offsets = krc_committed_new(), .groups = krc_groups_new(),
                            .ids = krc_transactional_ids_new(),
                            .lags = {{.topic = "txns", .committed = 57}, {.topic = "txns"}}};
        allocations_left = i;
        int rc = look(handle, &l, &error);
        all = allocations_left >= 0;
        allocations_left = -1;
        ck_assert_msg(rc == 0 || rc == KRC_E_NOMEM, "allocation %ld: %s", i, krc_code_name(rc));
        failed += rc < 0;
        if (rc == 0)
            check_looks(&l);
        krc_transactional_ids_free(l.ids);
        krc_committed_free(l.offsets);
        krc_groups_free(l.groups);
    }
    ck_assert_int_gt(failed, 100);
    krc_close(handle);
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {transactions, from_within_transactions, a_whole_data_folder,
                                  old_wrappers, with_a_store, a_cluster, a_member, administration};
    return run_tests("fault/alloc", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
