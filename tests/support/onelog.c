#include "tests/support/onelog.h"

#include <check.h>
#include <string.h>

static void open_log(struct onelog *one, const char *path, bool format_07)
{
    krc_error error;
    *one = (struct onelog){0};
    int rc = krc_log_places_find(&one->places, &path, 1, format_07, NULL, &error);
    ck_assert_msg(rc == 0 && one->places.count == 1, "%s", error.message);
    rc = krc_log_open(&one->log, &one->places.list[0], format_07, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    ck_assert_int_eq(krc_reader_open(&one->reader, one->log, 8 << 20, &error), 0);
    ck_assert_int_eq(krc_walker_open(&one->walker, one->log, &error), 0);
}

void onelog_open(struct onelog *one, const char *path)
{
    open_log(one, path, false);
}

void onelog_open_07(struct onelog *one, const char *path)
{
    open_log(one, path, true);
}

void onelog_close(struct onelog *one)
{
    krc_reader_close(one->reader);
    krc_walker_close(one->walker);
    krc_log_close(one->log);
    krc_log_places_free(&one->places);
}

size_t onelog_headers(struct onelog *one, struct krc_log_batch *batches, size_t most, int *end,
                      krc_error *error)
{
    struct krc_log_batch walked;
    krc_error other;
    size_t n = 0;
    while (n < most && (*end = krc_reader_next(one->reader, &batches[n], error)) == 1) {
        ck_assert_int_eq(krc_walker_next(one->walker, &walked, &other), 1);
        ck_assert_mem_eq(&walked.header, &batches[n].header, sizeof walked.header);
        ck_assert_uint_eq(walked.segment, batches[n].segment);
        ck_assert_int_eq(walked.file_position, batches[n].file_position);
        ck_assert_int_eq(walked.bytes != NULL, walked.header.size <= KRC_SMALL_BATCH);
        if (walked.bytes != NULL)
            ck_assert_mem_eq(walked.bytes, batches[n].bytes, (size_t)walked.header.size);
        n++;
    }
    if (n < most)
        ck_assert_int_eq(krc_walker_next(one->walker, &walked, &other), *end);
    if (*end < 0)
        ck_assert_str_eq(other.message, error->message);
    return n;
}
