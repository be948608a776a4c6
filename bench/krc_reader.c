/*
 * Reads a topic of a cluster with krc, to its present end, and sums up what is in it:
 *
 *     krc_reader                                        says which krc it is
 *     krc_reader HOST:PORT TOPIC PARTITIONS             "N records, checksum X"
 *     krc_reader HOST:PORT TOPIC PARTITIONS asleep      sleeps for 2 s behind the first batch
 *     krc_reader HOST:PORT TOPIC PARTITIONS SECONDS     follows it for so long, and says after how
 *                                                       many the first record came
 *
 * BENCH_CA in the environment: over TLS, with that authority's certificate.
 */
#include <krc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/checksum.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_batch(struct checksum *partitions, krc_batch *batch)
{
    struct krc_batch_info info;
    struct krc_record r;
    krc_batch_info(batch, &info);
    struct checksum checksum = partitions[info.partition];
    while (krc_next(batch, &r) == 1)
        checksum_add(&checksum, r.offset, r.timestamp_ms, r.key.len, r.value.data, r.value.len);
    partitions[info.partition] = checksum;
}

static int open_topic(krc **consumer, char **argv, int partitions, int64_t until, krc_error *error)
{
    krc_config *config = krc_config_new();
    const char *authority = getenv("BENCH_CA");
    int rc = config == NULL ? KRC_E_NOMEM
                            : krc_config_set(config, "bootstrap.servers", argv[1], error);
    if (rc >= 0 && authority != NULL)
        rc = krc_config_set(config, "security.protocol", "SSL", error);
    if (rc >= 0 && authority != NULL)
        rc = krc_config_set(config, "ssl.truststore.location", authority, error);
    if (rc >= 0)
        rc = krc_open(consumer, config, error);
    for (int i = 0; rc >= 0 && i < partitions; i++)
        rc = krc_assign(*consumer, argv[2], i, KRC_EARLIEST, until, error);
    krc_config_free(config);
    return rc;
}

static int read_all(krc *consumer, struct checksum *partitions, int count, unsigned sleep_s)
{
    krc_batch *batch;
    int rc;
    while ((rc = krc_poll(consumer, -1, &batch)) == 1) {
        add_batch(partitions, batch);
        if (sleep_s > 0)
            sleep(sleep_s);
        sleep_s = 0;
        krc_release(batch);
    }
    checksum_print(partitions, count);
    return rc;
}

static int follow(krc *consumer, double start, double seconds)
{
    krc_batch *batch;
    int rc = 0;
    for (double left = seconds; rc >= 0 && left > 0; left = start + seconds - now()) {
        rc = krc_poll(consumer, (int)(left * 1000) + 1, &batch);
        if (rc == 1) {
            printf("first record after %.4f s\n", now() - start);
            krc_release(batch);
        }
    }
    return rc;
}

int main(int argc, char **argv)
{
    double start = now();
    krc_error error = {0};
    krc *consumer = NULL;
    if (argc != 4 && argc != 5) {
        puts("krc " KRC_VERSION);
        return argc != 1;
    }
    int count = atoi(argv[3]);
    struct checksum *partitions = calloc((size_t)count, sizeof *partitions);
    if (partitions == NULL)
        return 1;
    bool asleep = argc == 5 && strcmp(argv[4], "asleep") == 0, follows = argc == 5 && !asleep;
    int rc = open_topic(&consumer, argv, count, follows ? KRC_NO_END : KRC_PRESENT_END, &error);
    if (rc >= 0) {
        rc = follows ? follow(consumer, start, atof(argv[4]))
                     : read_all(consumer, partitions, count, asleep ? 2 : 0);
        error = *krc_last_error(consumer);
    }
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", krc_code_name(rc), error.message);
    krc_close(consumer);
    free(partitions);
    return rc < 0;
}
