#include "logdir/stand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "logdir/load.h"
#include "records/finder.h"

enum { PIECE = 16 << 10 }; /* what is read at a time where speed does not matter */

void krc_stand_init(struct krc_stand *at, const struct krc_log *log, int advice)
{
    *at = (struct krc_stand){.log = log, .fd = -1, .data_end = -1, .advice = advice};
    krc_stand_move_to_segment(at, 0);
}

void krc_stand_close(struct krc_stand *at)
{
    if (at->fd >= 0)
        close(at->fd);
    at->fd = -1;
    at->data_end = -1;
    at->claimed = 0;
}

void krc_stand_move(struct krc_stand *at, size_t segment, int64_t position, int64_t last_offset)
{
    if (segment != at->segment)
        krc_stand_close(at);
    if (position < at->position)
        at->claimed = 0; /* it is read anew */
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
        at->data_end = -1;
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
    KRC_TRY(krc_check_interrupt(at->log->place->interrupt, "a log was read", error));
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

int krc_stand_check_crc(struct krc_stand *at, int64_t position,
                        const struct krc_batch_header *header, krc_error *error)
{
    uint8_t piece[PIECE];
    size_t got;
    KRC_TRY(krc_stand_read(at, position, piece, KRC_BATCH_PREFIX, &got, error));
    if (got < KRC_BATCH_PREFIX && header->size >= KRC_BATCH_PREFIX)
        return 0;
    int64_t end = position + header->size;
    position += krc_batch_crc_from(header, piece);
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

/* Of a batch with the right checksum, which does not cover the base offset, where nothing before it
 * tells which offsets come next: only what follows it can show that this is wrong. */
static int is_good(struct krc_stand *at, int64_t position, const struct krc_batch_header *header,
                   krc_error *error)
{
    uint8_t next[KRC_BATCH_LOOK];
    size_t got;
    KRC_TRY(krc_stand_read(at, position + header->size, next, sizeof next, &got, error));
    return !is_contradicted(at, position, header, next, got);
}

int krc_stand_good_batch(struct krc_stand *at, int64_t position, struct krc_batch_header *header,
                         krc_error *error)
{
    uint8_t look[KRC_BATCH_LOOK];
    size_t got;
    if (position < 0 || position >= at->end)
        return 0;
    KRC_TRY(krc_stand_read(at, position, look, sizeof look, &got, error));
    int rc = krc_stand_parse(at, position, look, got, header, NULL);
    if (rc != 1)
        return 0;
    if (!krc_stand_in_order(at, header) || !krc_stand_fits(at, position, header))
        return 0;
    KRC_TRY(rc = krc_stand_check_crc(at, position, header, error));
    return rc == 0 ? 0 : is_good(at, position, header, error);
}

/* ---- The search ----------------------------------------------------------------------------- */

static bool may_begin(void *arg, int64_t position, const uint8_t *bytes, size_t len,
                      struct krc_batch_header *header)
{
    const struct krc_stand *at = arg;
    return krc_stand_parse(at, position, bytes, len, header, NULL) == 1 &&
           krc_stand_in_order(at, header) && krc_stand_fits(at, position, header);
}

static int read_header(struct krc_stand *at, int64_t position, struct krc_batch_header *header,
                       krc_error *error)
{
    uint8_t look[KRC_BATCH_LOOK];
    size_t got;
    KRC_TRY(krc_stand_read(at, position, look, sizeof look, &got, error));
    return krc_stand_parse(at, position, look, got, header, NULL) == 1
               ? KRC_OK
               : krc_stand_changed(at, error);
}

static int judge_place(void *arg, int64_t position, int64_t end, krc_error *error)
{
    struct krc_stand *at = arg;
    struct krc_batch_header header;
    (void)end;
    KRC_TRY(read_header(at, position, &header, error));
    return is_good(at, position, &header, error);
}

static const struct krc_finder_ops search_ops = {.may_begin = may_begin, .judge = judge_place};

/* Where bytes lie again that are no hole: a batch may begin with some of the zeros before them. */
static int64_t behind_hole(const struct krc_stand *at, int64_t position)
{
    int64_t data = lseek(at->fd, position, SEEK_DATA);
    if (data < 0 && errno == ENXIO)
        return at->end;
    return data - KRC_BATCH_LOOK > position ? data - KRC_BATCH_LOOK : position;
}

static int search(struct krc_stand *at, struct krc_finder *s, krc_error *error)
{
    uint8_t piece[PIECE];
    size_t got;
    int rc = 0;
    while (rc == 0 && s->next < at->end) {
        int64_t behind = behind_hole(at, s->next);
        if (behind > s->next) {
            rc = krc_finder_zeros(s, (behind < at->end ? behind : at->end) - s->next, error);
            continue;
        }
        KRC_TRY(krc_stand_read(at, s->next, piece, sizeof piece, &got, error));
        bool is_last = s->next + (int64_t)got >= at->end;
        rc = krc_finder_bytes(s, piece, got, is_last, error);
    }
    return rc;
}

int krc_stand_scan(struct krc_stand *at, int64_t position, int64_t *found,
                   struct krc_batch_header *header, krc_error *error)
{
    struct krc_finder s;
    krc_finder_begin(&s, position, &search_ops, at);
    int rc = search(at, &s, error);
    *found = s.found;
    krc_finder_end(&s);
    if (rc == 1)
        KRC_TRY(read_header(at, *found, header, error));
    return rc;
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
