#include "logdir/stand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "logdir/load.h"

enum { PIECE = 16 << 10 }; /* what is read at a time where speed does not matter */

void krc_stand_init(struct krc_stand *at, const struct krc_log *log, int advice)
{
    *at = (struct krc_stand){.log = log, .fd = -1, .advice = advice};
    krc_stand_move_to_segment(at, 0);
}

void krc_stand_close(struct krc_stand *at)
{
    if (at->fd >= 0)
        close(at->fd);
    at->fd = -1;
}

void krc_stand_move(struct krc_stand *at, size_t segment, int64_t position, int64_t last_offset)
{
    if (segment != at->segment)
        krc_stand_close(at);
    at->segment = segment;
    at->position = position;
    at->last_offset = last_offset;
    at->ended = false;
    at->tail[0] = '\0';
}

void krc_stand_move_to_segment(struct krc_stand *at, size_t segment)
{
    const struct krc_log *log = at->log;
    int64_t first =
        segment < log->segment_count ? log->segments[segment].base_offset : log->log_start_offset;
    krc_stand_move(at, segment, 0, first - 1);
}

void krc_stand_pass(struct krc_stand *at, const struct krc_batch_header *header)
{
    at->position += header->size;
    at->last_offset = header->last_offset;
}

bool krc_stand_in_last_segment(const struct krc_stand *at)
{
    return at->segment + 1 == at->log->segment_count;
}

/* The file ends at `size`, earlier than when the log was opened. */
static int shrink(struct krc_stand *at, int64_t size, krc_error *error)
{
    if (krc_stand_in_last_segment(at)) {
        at->end = size;
        return KRC_OK;
    }
    char path[PATH_MAX];
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    krc_fail(error, KRC_E_IO, "the segment shrank from %lld bytes to %lld while it was read: %s",
             (long long)at->end, (long long)size, path);
    krc_error_at(error, at->log->place->topic, at->log->place->partition, at->last_offset + 1,
                 size);
    return KRC_E_IO;
}

static int io_error(const struct krc_stand *at, krc_error *error)
{
    krc_error_at(error, at->log->place->topic, at->log->place->partition, at->last_offset + 1,
                 at->position);
    if (error != NULL)
        error->code = KRC_E_IO; /* a segment that vanished, too: the log was there */
    return KRC_E_IO;
}

static int read_error(const struct krc_stand *at, krc_error *error)
{
    char path[PATH_MAX];
    int number = errno;
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    errno = number;
    krc_fail_errno(error, "cannot read %s", path);
    return io_error(at, error);
}

static int open_segment(struct krc_stand *at, krc_error *error)
{
    if (at->fd >= 0)
        return KRC_OK;
    char path[PATH_MAX];
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    int64_t size;
    at->fd = krc_open_file(path, &size, error);
    if (at->fd < 0)
        return io_error(at, error);
    posix_fadvise(at->fd, 0, 0, at->advice);
    at->end = at->log->segments[at->segment].size;
    return size < at->end ? shrink(at, size, error) : KRC_OK;
}

int krc_stand_settle(struct krc_stand *at, krc_error *error)
{
    while (!at->ended && at->segment < at->log->segment_count) {
        KRC_TRY(open_segment(at, error));
        if (at->position < at->end)
            return 1;
        if (krc_stand_in_last_segment(at))
            break;
        krc_stand_move_to_segment(at, at->segment + 1);
    }
    at->ended = true;
    return 0;
}

int krc_stand_read(struct krc_stand *at, int64_t position, void *to, size_t want, size_t *got,
                   krc_error *error)
{
    *got = 0;
    while (*got < want && position < at->end) {
        size_t n = want - *got;
        if ((int64_t)n > at->end - position)
            n = (size_t)(at->end - position);
        ssize_t r = pread(at->fd, (uint8_t *)to + *got, n, position);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return read_error(at, error);
        if (r == 0)
            return shrink(at, position, error);
        *got += (size_t)r;
        position += r;
    }
    return KRC_OK;
}

int64_t krc_stand_last_hole(const struct krc_stand *at, int64_t position)
{
    int64_t hole = position;
    while (hole < at->end) {
        int64_t data = lseek(at->fd, hole, SEEK_DATA);
        if (data >= at->end || (data < 0 && errno == ENXIO))
            return hole;
        hole = data < 0 ? -1 : lseek(at->fd, data, SEEK_HOLE);
        if (hole < 0)
            break;
    }
    return at->end;
}

int krc_stand_parse(const struct krc_stand *at, int64_t position, const uint8_t *bytes, size_t len,
                    struct krc_batch_header *header, krc_error *error)
{
    if (!at->log->format_07)
        return krc_batch_parse(bytes, len, header, error);
    uint64_t offset = (uint64_t)at->log->segments[at->segment].base_offset + (uint64_t)position;
    return krc_batch_parse_07(bytes, len, (int64_t)offset, header, error);
}

/* No offset of this segment reaches it: the next one's base; and since indexes count offsets from
 * the base in 32 bits, 2^31 behind that (0.7 has no such index). */
static int64_t offset_limit(const struct krc_stand *at)
{
    const struct krc_segment *segment = &at->log->segments[at->segment];
    if (!krc_stand_in_last_segment(at))
        return segment[1].base_offset;
    int64_t reach = at->log->format_07 ? INT64_MAX : (int64_t)INT32_MAX + 1;
    return segment->base_offset > INT64_MAX - reach ? INT64_MAX : segment->base_offset + reach;
}

bool krc_stand_in_order(const struct krc_stand *at, const struct krc_batch_header *header)
{
    return header->base_offset > at->last_offset && header->last_offset < offset_limit(at);
}

bool krc_stand_fits(const struct krc_stand *at, int64_t position,
                    const struct krc_batch_header *header)
{
    return header->size <= at->end - position;
}

/* Whether the batch that follows this one at `position` in the file, and whose first bytes are
 * `next`, begins at or below its last offset.  One of the two lies then. */
static bool is_contradicted(const struct krc_stand *at, int64_t position,
                            const struct krc_batch_header *header, const uint8_t *next, size_t len)
{
    struct krc_batch_header behind;
    return header->count >= 0 &&
           krc_stand_parse(at, position + header->size, next, len, &behind, NULL) == 1 &&
           behind.count >= 0 && behind.base_offset <= header->last_offset &&
           behind.base_offset > at->last_offset;
}

/* Whether the log would end at its checkpointed high watermark if the batch followed on.  If it
 * truly does not, the mark lies in the gap before it, where no batch ends. */
static bool ends_at_high_watermark(const struct krc_stand *at,
                                   const struct krc_batch_header *header)
{
    int64_t more = header->last_offset - header->base_offset;
    int64_t mark = at->log->place->high_watermark;
    return header->count >= 0 && krc_stand_in_last_segment(at) && mark > at->last_offset &&
           mark - at->last_offset - 2 == more;
}

bool krc_stand_lies(const struct krc_stand *at, const struct krc_batch_header *header,
                    const uint8_t *next, size_t len)
{
    if (header->base_offset == at->last_offset + 1)
        return false;
    return len == 0 ? ends_at_high_watermark(at, header)
                    : is_contradicted(at, at->position, header, next, len);
}

int krc_stand_look_behind(struct krc_stand *at, const struct krc_batch_header *header,
                          krc_error *error)
{
    uint8_t next[KRC_BATCH_LOOK];
    size_t got;
    KRC_TRY(krc_stand_read(at, at->position + header->size, next, sizeof next, &got, error));
    return !krc_stand_lies(at, header, next, got);
}

/* The first byte that the checksum covers: magic 2 has it over all behind it, magic 0 and 1 too;
 * 0.7's is the payload's, behind 4 bytes of length, magic, (from magic 1) attributes and CRC. */
static int64_t crc_begins(const struct krc_batch_header *header, const uint8_t *look)
{
    switch (header->magic) {
    case KRC_MAGIC_07:
        return look[4] == 0 ? 9 : 10;
    case 2:
        return 21;
    default:
        return 16;
    }
}

int krc_stand_check_crc(struct krc_stand *at, int64_t position,
                        const struct krc_batch_header *header, krc_error *error)
{
    uint8_t piece[PIECE];
    size_t got;
    KRC_TRY(krc_stand_read(at, position, piece, KRC_BATCH_PREFIX, &got, error));
    if (got < KRC_BATCH_PREFIX && header->size >= KRC_BATCH_PREFIX)
        return 0;
    int64_t end = position + header->size;
    position += crc_begins(header, piece);
    uint32_t crc = 0;
    while (position < end) {
        size_t n = end - position < PIECE ? (size_t)(end - position) : PIECE;
        KRC_TRY(krc_stand_read(at, position, piece, n, &got, error));
        if (got < n)
            return 0;
        crc = header->magic == 2 ? krc_crc32c(crc, piece, n) : krc_crc32(crc, piece, n);
        position += (int64_t)n;
    }
    return crc == header->crc;
}

/* What a place holds where nothing before it tells which offsets come next. */
enum candidate { NO_BATCH, GOOD_BATCH, LYING_BATCH };

/* A batch with the right checksum, which does not cover the base offset: only what follows it can
 * show that this is wrong. */
static int check_candidate(struct krc_stand *at, int64_t position,
                           const struct krc_batch_header *header, krc_error *error)
{
    uint8_t next[KRC_BATCH_LOOK];
    size_t got;
    if (!krc_stand_in_order(at, header) || !krc_stand_fits(at, position, header))
        return NO_BATCH;
    int rc = krc_stand_check_crc(at, position, header, error);
    if (rc <= 0)
        return rc < 0 ? rc : NO_BATCH;
    KRC_TRY(krc_stand_read(at, position + header->size, next, sizeof next, &got, error));
    return is_contradicted(at, position, header, next, got) ? LYING_BATCH : GOOD_BATCH;
}

int krc_stand_good_batch(struct krc_stand *at, int64_t position, struct krc_batch_header *header,
                         krc_error *error)
{
    uint8_t look[KRC_BATCH_LOOK];
    size_t got;
    if (position < 0 || position >= at->end)
        return 0;
    KRC_TRY(krc_stand_read(at, position, look, sizeof look, &got, error));
    if (krc_stand_parse(at, position, look, got, header, NULL) != 1)
        return 0;
    int rc = check_candidate(at, position, header, error);
    return rc < 0 ? rc : rc == GOOD_BATCH;
}

/* Scans what was read of the file at `position`, from its first `n` bytes on.  `*found` is where
 * to go on if there is none. */
static int scan_piece(struct krc_stand *at, int64_t position, const uint8_t *piece, size_t n,
                      size_t got, int64_t *found, struct krc_batch_header *header, krc_error *error)
{
    for (size_t i = 0; i < n; i++) {
        *found = position + (int64_t)i;
        if (krc_stand_parse(at, *found, piece + i, got - i, header, NULL) != 1)
            continue;
        int rc = check_candidate(at, *found, header, error);
        if (rc == LYING_BATCH) {
            *found += header->size;
            return 0;
        }
        if (rc != NO_BATCH)
            return rc;
    }
    *found = position + (int64_t)n;
    return 0;
}

int krc_stand_scan(struct krc_stand *at, int64_t position, int64_t *found,
                   struct krc_batch_header *header, krc_error *error)
{
    uint8_t piece[PIECE];
    size_t got;
    int64_t end = krc_stand_last_hole(at, position);
    for (*found = position; *found < end;) {
        position = *found;
        KRC_TRY(krc_stand_read(at, position, piece, sizeof piece, &got, error));
        bool whole = position + (int64_t)got < at->end; /* then the next piece overlaps this one */
        int rc = scan_piece(at, position, piece, whole ? got - KRC_BATCH_LOOK : got, got, found,
                            header, error);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int krc_stand_changed(const struct krc_stand *at, krc_error *error)
{
    char path[PATH_MAX];
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    krc_fail(error, KRC_E_IO, "the segment changed while it was read, at byte %lld: %s",
             (long long)at->position, path);
    krc_error_at(error, at->log->place->topic, at->log->place->partition, at->last_offset + 1,
                 at->position);
    return KRC_E_IO;
}
