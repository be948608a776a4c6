#include "tests/support/makelog.h"

#include <stdio.h>

#include "tests/support/tempdir.h"

struct krc_buffer make_bytes;

void make_setup(void)
{
    tempdir_make();
    tempdir_mkdir("data");
    tempdir_mkdir("data/t-0");
}

void make_teardown(void)
{
    krc_buffer_free(&make_bytes);
    tempdir_remove();
}

size_t make_batch(int64_t base, int32_t count, int64_t producer)
{
    size_t at = make_bytes.len;
    build_plain_batch(&make_bytes,
                      &(struct build_batch){.base_offset = base,
                                            .producer_id = producer,
                                            .producer_epoch = 5,
                                            .transactional = producer != 0},
                      count);
    return at;
}

size_t make_plain(int64_t base, int32_t count)
{
    return make_batch(base, count, 0);
}

size_t make_marker(int64_t offset, int64_t producer, int type)
{
    size_t at = make_bytes.len;
    build_marker(&make_bytes, offset, producer, 5, type);
    return at;
}

void make_segment(int64_t base)
{
    char path[64];
    snprintf(path, sizeof path, "data/t-0/%020lld.log", (long long)base);
    tempdir_write(path, make_bytes.data, make_bytes.len);
    make_bytes.len = 0;
}
