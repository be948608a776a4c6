/*
 * A partition's folder, read through the public API.
 *
 *   uint8   choices: 1 read_uncommitted, 2 Kafka 0.7, 4 leave checksums as they are
 *   uint16  length of the .index, then it
 *   uint16  length of the .txnindex, then it
 *   the rest is the .log, or the .kafka of 0.7
 *
 * Laws: reading ends; offsets rise and lie in their batch; the account adds up and counts the
 * records that came; who skips corrupt batches meets none, and first gets what he gets who stops
 * at them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krc.h>

#include "base/bytes.h"
#include "base/crc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64] = "/dev/shm/krc-fuzz-XXXXXX";

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* ---- The folder, one for all inputs ---------------------------------------------------------- */

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/t-0/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    static const char *const names[] = {"00000000000000000000.log", "00000000000000000000.kafka",
                                        "00000000000000000000.index",
                                        "00000000000000000000.txnindex", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)remove(path_of(names[i]));
    (void)remove(folder);
}

static void make_folder(void)
{
    static bool made;
    if (made)
        return;
    made = true;
    require(mkdtemp(folder) != NULL && mkdir(path_of(""), 0700) == 0);
    require(atexit(remove_folder) == 0);
}

static void write_file(const char *name, const uint8_t *data, size_t len)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, data, len) == (ssize_t)len);
    close(fd);
}

/* Each batch's checksum made right, so that what lies behind it is reached. */
static void fix_checksums(uint8_t *log, size_t len)
{
    for (size_t at = 0, size; len - at > 21; at += size) {
        uint8_t *batch = log + at;
        size = 12 + (size_t)krc_be32(batch + 8);
        if (size > len - at || size < 22)
            return;
        bool is_2 = batch[16] == 2;
        uint32_t crc = is_2 ? krc_crc32c(0, batch + 21, size - 21)
                            : krc_crc32(0, batch + 16, size - 16);
        uint8_t *stored = batch + (is_2 ? 17 : 12);
        for (int i = 0; i < 4; i++)
            stored[i] = (uint8_t)(crc >> (24 - 8 * i));
    }
}

/* Writes the part that a length stands before; returns what it took. */
static size_t write_part(const char *name, const uint8_t *data, size_t size)
{
    if (size < 2)
        return size;
    size_t len = krc_be16(data);
    if (len > size - 2)
        len = size - 2;
    write_file(name, data + 2, len);
    if (len == 0)
        require(remove(path_of(name)) == 0);
    return 2 + len;
}

static void write_folder(const uint8_t *data, size_t size, uint8_t choices)
{
    static const char *const names[] = {"00000000000000000000.log", "00000000000000000000.kafka"};
    bool is_07 = choices & 2;
    (void)remove(path_of(names[!is_07]));
    size_t at = write_part("00000000000000000000.index", data, size);
    at += write_part("00000000000000000000.txnindex", data + at, size - at);
    size_t len = size - at;
    uint8_t *log = malloc(len > 0 ? len : 1);
    require(log != NULL);
    memcpy(log, data + at, len);
    if (!is_07 && !(choices & 4))
        fix_checksums(log, len);
    write_file(names[is_07], log, len);
    free(log);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* What came: how many records, and a checksum of them; `part` is the checksum after as many as
 * another reading got. */
struct reading {
    int64_t records, limit;
    bool is_07; /* where the messages of a compressed set all have its offset */
    uint32_t sum, part;
    int rc;
};

static void take_record(struct reading *r, const struct krc_record *record)
{
    r->sum = krc_crc32c(r->sum, &record->offset, sizeof record->offset);
    r->sum = krc_crc32c(r->sum, &record->timestamp_ms, sizeof record->timestamp_ms);
    r->sum = krc_crc32c(r->sum, record->key.data, record->key.len);
    r->sum = krc_crc32c(r->sum, record->value.data, record->value.len);
    if (++r->records == r->limit)
        r->part = r->sum;
}

static void take_headers(const struct krc_record *record)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    int32_t count = 0;
    while (krc_header_next(&rest, &header))
        count++;
    require(count == record->header_count);
}

static void take_batch(struct reading *r, krc_batch *batch, int64_t *next)
{
    struct krc_batch_info info;
    struct krc_record record;
    int32_t count = 0;
    krc_batch_info(batch, &info);
    for (; krc_next(batch, &record) == 1; count++) {
        require(record.offset >= *next && record.offset < info.next_offset);
        *next = record.offset + !r->is_07;
        take_headers(&record);
        take_record(r, &record);
    }
    require(count == info.records && count > 0);
    *next = info.next_offset;
    krc_release(batch);
}

static void check_account(const krc *handle, const struct reading *r, int64_t next)
{
    struct krc_position at;
    require(krc_position(handle, "t", 0, &at) == KRC_OK);
    const struct krc_account *a = &at.read;
    require(a->delivered + a->aborted + a->control + a->absent + a->lost + a->skipped ==
            a->to - a->from);
    require(r->is_07 ? a->delivered <= r->records : a->delivered == r->records);
    require(a->delivered >= 0 && a->aborted >= 0 && a->control >= 0 && a->absent >= 0 &&
            a->lost >= 0 && a->skipped >= 0);
    require(at.position == a->to && at.position >= next && at.undecided >= 0);
    require(r->rc < 0 || at.position <= at.log_end_offset);
}

static void read_log(krc *handle, struct reading *r, size_t size)
{
    krc_batch *batch;
    int64_t next = 0;
    size_t batches = 0;
    require(krc_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END, NULL) == KRC_OK);
    while ((r->rc = krc_poll(handle, 0, &batch)) == 1) {
        require(++batches <= size);
        take_batch(r, batch, &next);
    }
    require(r->rc == 0 || krc_last_error(handle)->message[0] != '\0');
    check_account(handle, r, next);
}

static void set(krc_config *config, const char *name, const char *value)
{
    require(krc_config_set(config, name, value, NULL) == KRC_OK);
}

static struct reading read_folder(uint8_t choices, bool skip, int64_t limit, size_t size)
{
    struct reading r = {.limit = limit, .is_07 = choices & 2};
    krc_config *config = krc_config_new();
    krc *handle;
    require(config != NULL);
    set(config, "log.dirs", folder);
    set(config, "isolation.level", choices & 1 ? "read_uncommitted" : "read_committed");
    set(config, "log.format", choices & 2 ? "0.7" : "current");
    set(config, "skip.corrupt.batches", skip ? "true" : "false");
    set(config, "receive.message.max.bytes", "1048576");
    set(config, "decompressed.batch.max.bytes", "1048576");
    require(krc_open(&handle, config, NULL) == KRC_OK);
    read_log(handle, &r, size);
    krc_close(handle);
    krc_config_free(config);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    make_folder();
    write_folder(data + 1, size - 1, data[0]);
    struct reading stopping = read_folder(data[0], false, -1, size);
    struct reading skipping = read_folder(data[0], true, stopping.records, size);
    require(skipping.rc != KRC_E_CORRUPT);
    require(skipping.records >= stopping.records);
    require(stopping.records == 0 || skipping.part == stopping.sum);
    require(stopping.rc < 0 || skipping.records == stopping.records);
    return 0;
}
