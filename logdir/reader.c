#include "logdir/stand.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Read at a time: enough that system calls do not count, and little enough to stay in the
 * processor's cache until it is decoded. */
enum { CHUNK = 256 << 10 };

struct krc_reader {
    struct krc_walker walker; /* its stand is the reader's, its window serves seeks */
    int64_t max_batch_bytes;
    struct krc_chunk *chunk; /* NULL at first */
    size_t segment;          /* the chunk's place */
    int64_t position;
};

int krc_reader_open(struct krc_reader **reader, const struct krc_log *log, int64_t max_batch_bytes,
                    krc_error *error)
{
    *reader = calloc(1, sizeof **reader);
    if (*reader == NULL)
        return krc_fail_nomem(error, sizeof **reader);
    krc_walker_init(&(*reader)->walker, log, POSIX_FADV_SEQUENTIAL);
    (*reader)->max_batch_bytes = max_batch_bytes;
    return KRC_OK;
}

void krc_reader_close(struct krc_reader *reader)
{
    if (reader == NULL)
        return;
    krc_chunk_drop(reader->chunk);
    krc_stand_close(&reader->walker.at);
    free(reader);
}

/* How many bytes from the stand on are in the chunk. */
static size_t at_hand(const struct krc_reader *reader)
{
    const struct krc_stand *at = &reader->walker.at;
    int64_t skip = at->position - reader->position;
    if (reader->chunk == NULL || reader->segment != at->segment || skip < 0 ||
        skip >= (int64_t)reader->chunk->len)
        return 0;
    return reader->chunk->len - (size_t)skip;
}

static const uint8_t *here(const struct krc_reader *reader)
{
    return reader->chunk->data + (reader->walker.at.position - reader->position);
}

/* Gets `want` bytes from the stand on into one chunk, fewer only at the end of the file.  The
 * chunk is used again unless a batch of it is held; one that was made for a giant is not kept. */
static int fill(struct krc_reader *reader, size_t want, krc_error *error)
{
    struct krc_stand *at = &reader->walker.at;
    size_t have = at_hand(reader);
    if (have >= want || (int64_t)have >= at->end - at->position)
        return KRC_OK;
    size_t capacity = want > CHUNK ? want : CHUNK;
    struct krc_chunk *old = reader->chunk, *chunk = old;
    if (old == NULL || old->holders > 1 || old->capacity != capacity) {
        chunk = krc_chunk_new(capacity, error);
        if (chunk == NULL)
            return KRC_E_NOMEM;
    }
    if (have > 0)
        memmove(chunk->data, here(reader), have);
    if (chunk != old)
        krc_chunk_drop(old);
    chunk->len = have;
    reader->chunk = chunk;
    reader->segment = at->segment;
    reader->position = at->position;
    size_t got;
    KRC_TRY(krc_stand_read(at, at->position + (int64_t)have, chunk->data + have, capacity - have,
                           &got, error));
    chunk->len += got;
    return KRC_OK;
}

/* Whether what follows the batch in the chunk agrees with it: 1 it does, 0 it shows a lie. */
static int look_behind(struct krc_reader *reader, const struct krc_batch_header *header,
                       krc_error *error)
{
    struct krc_stand *at = &reader->walker.at;
    size_t size = (size_t)header->size, len = at_hand(reader) - size;
    if (len < KRC_BATCH_LOOK) /* at the chunk's end */
        return krc_stand_look_behind(at, header, error);
    return !krc_stand_lies(at, header, here(reader) + size, len);
}

/* 1: a good batch lies at the stand, whole in the chunk. */
static int load(struct krc_reader *reader, struct krc_batch_header *header, krc_error *error)
{
    struct krc_stand *at = &reader->walker.at;
    KRC_TRY(fill(reader, KRC_BATCH_LOOK, error));
    size_t have = at_hand(reader);
    if (have == 0 || krc_stand_parse(at, at->position, here(reader), have, header, NULL) != 1)
        return 0;
    if (!krc_stand_in_order(at, header) || !krc_stand_fits(at, at->position, header) ||
        header->size > reader->max_batch_bytes)
        return 0;
    KRC_TRY(fill(reader, (size_t)header->size, error));
    if (at_hand(reader) < (size_t)header->size ||
        krc_batch_check_crc(here(reader), header, NULL) < 0)
        return 0;
    return look_behind(reader, header, error);
}

static int too_large(const struct krc_reader *reader, const struct krc_batch_header *header,
                     krc_error *error)
{
    const struct krc_stand *at = &reader->walker.at;
    const struct krc_log_place *place = at->log->place;
    char path[PATH_MAX];
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    krc_fail(error, KRC_E_TOO_LARGE,
             "the batch of offsets %lld to %lld of %s-%d has %d bytes, more than "
             "receive.message.max.bytes = %lld allows: byte %lld of %s",
             (long long)header->base_offset, (long long)header->last_offset, place->topic,
             (int)place->partition, (int)header->size, (long long)reader->max_batch_bytes,
             (long long)at->position, path);
    krc_error_at(error, place->topic, place->partition, at->last_offset + 1, at->position);
    return KRC_E_TOO_LARGE;
}

int krc_reader_next(struct krc_reader *reader, struct krc_log_batch *batch, krc_error *error)
{
    struct krc_stand *at = &reader->walker.at;
    struct krc_batch_header *header = &batch->header;
    int rc = krc_stand_settle(at, error);
    if (rc <= 0)
        return rc;
    header->size = 0;
    KRC_TRY(rc = load(reader, header, error));
    if (rc == 0) {
        KRC_TRY(rc = krc_stand_judge(at, error));
        if (rc == 0)
            return 0;
        return header->size > reader->max_batch_bytes ? too_large(reader, header, error)
                                                      : krc_stand_changed(at, error);
    }
    batch->bytes = here(reader);
    batch->chunk = reader->chunk;
    batch->segment = at->segment;
    batch->file_position = at->position;
    krc_stand_pass(at, header);
    return 1;
}

int krc_reader_seek(struct krc_reader *reader, int64_t offset, krc_error *error)
{
    return krc_walker_seek(&reader->walker, offset, error);
}

int krc_reader_seek_time(struct krc_reader *reader, int64_t timestamp_ms, krc_error *error)
{
    return krc_walker_seek_time(&reader->walker, timestamp_ms, error);
}

int krc_reader_resync(struct krc_reader *reader, struct krc_damage *damage, krc_error *error)
{
    return krc_stand_resync(&reader->walker.at, damage, error);
}

const char *krc_reader_tail(const struct krc_reader *reader)
{
    return reader->walker.at.tail;
}
