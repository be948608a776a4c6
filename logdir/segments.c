/*
 * Which segments a folder holds.
 *
 * Compaction writes segments named .cleaned, renames them to .swap when all are whole, renames
 * those that they replace to .deleted, and takes .swap off.  A broker that was killed on the way
 * goes on when it starts: it takes the .swap segments for all that begin within their offsets.  But
 * one at or behind a .cleaned file is of a segment that was being split, and is dropped, as all
 * .cleaned ones are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "logdir/cursor.h"
#include "logdir/load.h"

/* What was found. */
struct found {
    struct krc_log *log;
    DIR *dir;
    size_t capacity;    /* of the log's segments */
    int64_t *indexes;   /* the bases of index files */
    size_t index_count, index_capacity;
    int64_t cleaned;    /* the lowest base of a .cleaned file */
    bool is_swapped;    /* a segment is named .swap */
    bool other_format;  /* a segment of 0.7 is there, and none is looked for, or the reverse */
};

/* Makes room for one more. */
static int grow(void **list, size_t count, size_t *capacity, size_t size, krc_error *error)
{
    if (count < *capacity)
        return KRC_OK;
    size_t wanted = *capacity > 0 ? *capacity * 2 : 8;
    void *larger = realloc(*list, wanted * size);
    if (larger == NULL)
        return krc_fail_nomem(error, wanted * size);
    *list = larger;
    *capacity = wanted;
    return KRC_OK;
}

/* The size of a file that has a segment's name: 1, or 0 where a running broker has just deleted it,
 * which a link to nowhere is not. */
static int measure(DIR *dir, const char *folder, const char *name, int64_t *size, krc_error *error)
{
    struct stat st;
    if (fstatat(dirfd(dir), name, &st, 0) < 0 &&
        (errno != ENOENT || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)) {
        if (errno == ENOENT)
            return 0;
        return krc_fail_errno(error, "cannot look at %s/%s", folder, name);
    }
    if (!S_ISREG(st.st_mode))
        return krc_fail(error, KRC_E_IO,
                        "this has the name of a segment, but is no regular file: %s/%s", folder,
                        name);
    *size = st.st_size;
    return 1;
}

static int add_segment(struct found *f, const char *name, int64_t base, bool is_swap,
                       krc_error *error)
{
    struct krc_log *log = f->log;
    struct krc_segment segment = {.base_offset = base, .is_swap = is_swap};
    int rc = measure(f->dir, log->place->folder, name, &segment.size, error);
    if (rc <= 0)
        return rc;
    void *list = log->segments;
    rc = grow(&list, log->segment_count, &f->capacity, sizeof segment, error);
    log->segments = list;
    if (rc < 0)
        return rc;
    log->segments[log->segment_count++] = segment;
    f->is_swapped |= is_swap;
    return KRC_OK;
}

static int add_index(struct found *f, int64_t base, krc_error *error)
{
    void *list = f->indexes;
    int rc = grow(&list, f->index_count, &f->index_capacity, sizeof base, error);
    f->indexes = list;
    if (rc >= 0)
        f->indexes[f->index_count++] = base;
    return rc;
}

/* A file that lies beside segments, of a whole log. */
static int add_beside(struct found *f, const char *name, krc_error *error)
{
    static const char *const indexes[] = {".index", ".timeindex", ".txnindex"};
    static const char *const cleaned[] = {".log.cleaned", ".index.cleaned", ".timeindex.cleaned",
                                          ".txnindex.cleaned"};
    int64_t base = krc_segment_name(name, ".log.swap");
    if (base >= 0)
        return add_segment(f, name, base, true, error);
    for (size_t i = 0; i < sizeof cleaned / sizeof *cleaned; i++) {
        base = krc_segment_name(name, cleaned[i]);
        if (base >= 0 && base < f->cleaned)
            f->cleaned = base;
    }
    for (size_t i = 0; i < sizeof indexes / sizeof *indexes; i++) {
        base = krc_segment_name(name, indexes[i]);
        if (base >= 0 && f->log->place->stopped_cleanly)
            return add_index(f, base, error);
    }
    return KRC_OK;
}

static int add_entry(struct found *f, const char *name, krc_error *error)
{
    const struct krc_log *log = f->log;
    const char *only = log->place->file;
    int64_t base = krc_segment_name(name, log->format_07 ? ".kafka" : ".log");
    if (base >= 0 && (only == NULL || strcmp(only, name) == 0))
        return add_segment(f, name, base, false, error);
    f->other_format |= krc_segment_name(name, log->format_07 ? ".log" : ".kafka") >= 0;
    return only == NULL && !log->format_07 ? add_beside(f, name, error) : KRC_OK;
}

static int read_folder(struct found *f, krc_error *error)
{
    const struct krc_log_place *place = f->log->place;
    const struct dirent *entry;
    for (errno = 0; (entry = readdir(f->dir)) != NULL; errno = 0) {
        KRC_TRY(krc_check_interrupt(place->interrupt, "looking for segments", error));
        KRC_TRY(add_entry(f, entry->d_name, error));
    }
    if (errno != 0)
        return krc_fail_errno(error, "cannot read the folder %s", place->folder);
    if (f->log->segment_count > 0 || !f->other_format)
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID,
                    f->log->format_07
                        ? "the log format is said to be 0.7, but these segments are of Kafka 0.8 "
                          "or later: %s"
                        : "these segments are of Kafka 0.7, which has to be said: set the log "
                          "format to 0.7: %s",
                    place->folder);
}

static int by_base(const void *a, const void *b)
{
    const struct krc_segment *x = a, *y = b;
    return (x->base_offset > y->base_offset) - (x->base_offset < y->base_offset);
}

/* .swap ones first. */
static int by_kind(const void *a, const void *b)
{
    const struct krc_segment *x = a, *y = b;
    if (x->is_swap != y->is_swap)
        return x->is_swap ? -1 : 1;
    return by_base(a, b);
}

static void sort(struct krc_log *log, int (*order)(const void *, const void *))
{
    if (log->segment_count > 1)
        qsort(log->segments, log->segment_count, sizeof *log->segments, order);
}

/* Takes out the segments that begin in [from, to), those named .swap or the others. */
static void drop(struct krc_log *log, bool is_swap, int64_t from, int64_t to)
{
    size_t kept = 0;
    for (size_t i = 0; i < log->segment_count; i++) {
        const struct krc_segment *s = &log->segments[i];
        if (s->is_swap != is_swap || s->base_offset < from || s->base_offset >= to)
            log->segments[kept++] = *s;
    }
    log->segment_count = kept;
}

static int complete_swap(struct found *f, krc_error *error)
{
    struct krc_log *log = f->log;
    int64_t end;
    drop(log, true, f->cleaned, INT64_MAX);
    sort(log, by_kind);
    struct krc_log swapped = *log;
    swapped.segment_count = 0;
    while (swapped.segment_count < log->segment_count &&
           log->segments[swapped.segment_count].is_swap)
        swapped.segment_count++;
    if (swapped.segment_count == 0)
        return KRC_OK;
    KRC_TRY(krc_log_find_batch_end(&swapped, &end, error));
    int64_t last = log->segments[swapped.segment_count - 1].base_offset; /* may be empty */
    drop(log, false, log->segments[0].base_offset, end > last ? end : last + 1);
    return KRC_OK;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Leaves of the indexes' bases, once each, those of no segment. */
static void find_orphans(struct found *f)
{
    struct krc_log *log = f->log;
    size_t segment = 0;
    if (f->index_count > 1)
        qsort(f->indexes, f->index_count, sizeof *f->indexes, by_value);
    log->orphans = f->indexes;
    for (size_t i = 0; i < f->index_count; i++) {
        int64_t base = f->indexes[i];
        while (segment < log->segment_count && log->segments[segment].base_offset < base)
            segment++;
        bool is_there =
            segment < log->segment_count && log->segments[segment].base_offset == base;
        bool is_new = log->orphan_count == 0 || log->orphans[log->orphan_count - 1] != base;
        if (!is_there && is_new)
            log->orphans[log->orphan_count++] = base;
    }
}

int krc_log_list_segments(struct krc_log *log, krc_error *error)
{
    struct found f = {.log = log, .dir = opendir(log->place->folder), .cleaned = INT64_MAX};
    if (f.dir == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", log->place->folder);
    int rc = read_folder(&f, error);
    closedir(f.dir);
    if (rc >= 0 && f.is_swapped)
        rc = complete_swap(&f, error);
    sort(log, by_base);
    find_orphans(&f);
    return rc;
}
