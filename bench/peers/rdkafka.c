/*
 * The same with librdkafka, its defaults, and what it has for the least time a message (of its
 * callback, batch and poll interfaces the callback's takes the least, poll's twice that):
 *
 *     rdkafka                                         says which librdkafka it is
 *     rdkafka HOST:PORT TOPIC PARTITIONS [SECONDS]    as krc_reader
 */
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/checksum.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK)
        die(why);
}

static rd_kafka_t *open_topic(char **argv, int partitions, bool to_the_end)
{
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", argv[1]);
    set(conf, "group.id", "bench");
    set(conf, "enable.auto.commit", "false");
    set(conf, "enable.partition.eof", "true");
    if (getenv("BENCH_CA") != NULL) {
        set(conf, "security.protocol", "ssl");
        set(conf, "ssl.ca.location", getenv("BENCH_CA"));
    }
    if (to_the_end) /* which it knows by an empty answer, that the broker would keep for 500 ms */
        set(conf, "fetch.wait.max.ms", "10");
    rd_kafka_t *consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (consumer == NULL)
        die(why);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int i = 0; i < partitions; i++)
        rd_kafka_topic_partition_list_add(list, argv[2], i)->offset = RD_KAFKA_OFFSET_BEGINNING;
    if (rd_kafka_assign(consumer, list) != RD_KAFKA_RESP_ERR_NO_ERROR)
        die("assign");
    rd_kafka_topic_partition_list_destroy(list);
    return consumer;
}

struct reading {
    struct checksum *partitions;
    int ended;
};

static void take(rd_kafka_message_t *m, void *arg)
{
    struct reading *reading = arg;
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
        checksum_add(&reading->partitions[m->partition], m->offset,
                     rd_kafka_message_timestamp(m, NULL), m->key_len, m->payload, m->len);
    else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        reading->ended++;
    else
        die(rd_kafka_message_errstr(m));
}

static void read_all(rd_kafka_t *consumer, struct checksum *partitions, int count)
{
    struct reading reading = {.partitions = partitions};
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(consumer);
    while (reading.ended < count)
        if (rd_kafka_consume_callback_queue(queue, 1000, take, &reading) < 0)
            die("consume");
    rd_kafka_queue_destroy(queue);
    checksum_print(partitions, count);
}

static void follow(rd_kafka_t *consumer, double start, double seconds)
{
    for (double left = seconds; left > 0; left = start + seconds - now()) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(consumer, (int)(left * 1000) + 1);
        if (m != NULL && m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            printf("first record after %.4f s\n", now() - start);
        if (m != NULL)
            rd_kafka_message_destroy(m);
    }
}

int main(int argc, char **argv)
{
    double start = now();
    if (argc != 4 && argc != 5) {
        printf("librdkafka %s\n", rd_kafka_version_str());
        return argc != 1;
    }
    int count = atoi(argv[3]);
    struct checksum *partitions = calloc((size_t)count, sizeof *partitions);
    if (partitions == NULL)
        return 1;
    rd_kafka_t *consumer = open_topic(argv, count, argc == 4);
    if (argc == 5)
        follow(consumer, start, atof(argv[4]));
    else
        read_all(consumer, partitions, count);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    free(partitions);
    return 0;
}
