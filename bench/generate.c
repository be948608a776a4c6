/*
 * Makes a log folder to measure with:
 *
 *     generate FOLDER CODEC RECORDS VALUE-BYTES PARTITIONS
 *
 * Topic "bench" with transactions of 20,000 records, of which every 16th is aborted, in batches of
 * about 16 KB.  Keys of 7 bytes, values that look like the JSON of an application.  Producer 1
 * commits, producer 2 aborts, so that a reader that knows no markers can tell them too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/build.h"

enum { PER_TRANSACTION = 20000, ABORT_EVERY = 16, BATCH_BYTES = 16 << 10, RECORDS_MAX = 2000 };
static const int64_t segment_bytes = 1 << 30;

struct log {
    char folder[4096];
    int fd;
    int64_t offset, segment_base, segment_size;
    struct krc_buffer out;   /* one batch */
    struct krc_buffer index; /* an entry each 4 KiB, as a broker makes it */
    int64_t indexed;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void flush_log(struct log *log)
{
    if (log->segment_size - log->indexed > 4096) {
        build_int(&log->index, log->offset - 1 - log->segment_base, 4);
        build_int(&log->index, log->segment_size, 4);
        log->indexed = log->segment_size;
    }
    if (log->out.len > 0 && write(log->fd, log->out.data, log->out.len) != (ssize_t)log->out.len)
        die("write");
    log->segment_size += (int64_t)log->out.len;
    log->out.len = 0;
}

static void end_segment(struct log *log)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%020lld.index", log->folder, (long long)log->segment_base);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, log->index.data, log->index.len) != (ssize_t)log->index.len)
        die(path);
    close(fd);
    close(log->fd);
    log->index.len = 0;
}

static void roll(struct log *log)
{
    char path[4200];
    if (log->fd >= 0)
        end_segment(log);
    log->segment_base = log->offset;
    log->indexed = 0;
    snprintf(path, sizeof path, "%s/%020lld.log", log->folder, (long long)log->offset);
    log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (log->fd < 0)
        die(path);
    log->segment_size = 0;
}

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Some JSON of exactly `size` bytes, as far as that goes. */
static void make_value(char *value, size_t size, int64_t number)
{
    static const char *const words[] = {"login", "view", "search", "cart", "order", "refund"};
    int n = snprintf(value, size, "{\"id\":%llu,\"n\":%lld,\"event\":\"%s\",\"ok\":%s,\"note\":\"",
                     (unsigned long long)(random_number() % 1000000000000u), (long long)number,
                     words[random_number() % 6], random_number() % 2 ? "true" : "false");
    if (n < 0 || (size_t)n + 2 >= size)
        return;
    for (size_t i = (size_t)n; i < size - 2; i++)
        value[i] = "etaoin shrdlu cmfwyp"[random_number() % 20];
    memcpy(value + size - 2, "\"}", 2);
}

static void add_batch(struct log *log, int codec, bool abort_it, int count, size_t value_size)
{
    static struct build_record records[RECORDS_MAX];
    static char keys[RECORDS_MAX][16];
    char *values = malloc((value_size + 1) * (size_t)count);
    if (values == NULL)
        die("malloc");
    for (int i = 0; i < count; i++) {
        char *value = values + (value_size + 1) * (size_t)i;
        snprintf(keys[i], sizeof keys[i], "k%06d", (int)((log->offset + i) % 999983));
        make_value(value, value_size, log->offset + i);
        records[i] = (struct build_record){
            .offset_delta = i,
            .timestamp_delta = i / 8,
            .key = {(const uint8_t *)keys[i], 7},
            .value = {(const uint8_t *)value, value_size},
        };
    }
    int64_t now = 1700000000000 + log->offset / 8;
    build_batch(&log->out, &(struct build_batch){.base_offset = log->offset,
                                                 .last_delta = count - 1,
                                                 .codec = codec,
                                                 .transactional = true,
                                                 .producer_id = abort_it ? 2 : 1,
                                                 .base_timestamp = now,
                                                 .max_timestamp = now + (count - 1) / 8,
                                                 .records = records,
                                                 .count = count});
    log->offset += count;
    free(values);
}

static void make_partition(const char *folder, int partition, int codec, int64_t count,
                           size_t value_size)
{
    struct log log = {.fd = -1};
    int64_t per_batch = BATCH_BYTES / (int64_t)(value_size + 16);
    per_batch = per_batch < 1 ? 1 : per_batch > RECORDS_MAX ? RECORDS_MAX : per_batch;
    snprintf(log.folder, sizeof log.folder, "%s/bench-%d", folder, partition);
    if (mkdir(log.folder, 0755) != 0)
        die(log.folder);
    roll(&log);
    for (int64_t made = 0, transaction = 0; made < count; transaction++) {
        bool abort_it = transaction % ABORT_EVERY == ABORT_EVERY - 1;
        int64_t left = count - made < PER_TRANSACTION ? count - made : PER_TRANSACTION;
        for (made += left; left > 0;) {
            int n = (int)(left < per_batch ? left : per_batch);
            add_batch(&log, codec, abort_it, n, value_size);
            flush_log(&log);
            left -= n;
        }
        build_marker(&log.out, log.offset++, abort_it ? 2 : 1, 0, abort_it ? 0 : 1);
        flush_log(&log);
        if (log.segment_size > segment_bytes)
            roll(&log);
    }
    end_segment(&log);
    krc_buffer_free(&log.out);
    krc_buffer_free(&log.index);
}

int main(int argc, char **argv)
{
    int codec = 0;
    if (argc != 6) {
        fprintf(stderr, "usage: %s FOLDER CODEC RECORDS VALUE-BYTES PARTITIONS\n", argv[0]);
        return 2;
    }
    while (krc_codec_name(codec) != NULL && strcmp(krc_codec_name(codec), argv[2]) != 0)
        codec++;
    if (krc_codec_name(codec) == NULL || mkdir(argv[1], 0755) != 0)
        die(argv[1]);
    int partitions = atoi(argv[5]);
    for (int i = 0; i < partitions; i++)
        make_partition(argv[1], i, codec, atoll(argv[3]) / partitions, (size_t)atoll(argv[4]));
    return 0;
}
