#include "logdir/verify.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/printable.h"
#include "logdir/load.h"

void krc_verify_tell(struct krc_verify *v, bool fault, const char *format, ...)
{
    char text[PATH_MAX + 512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    krc_make_printable(text, sizeof text);
    v->summary->faults += fault;
    v->summary->notes += !fault;
    v->options->finding(v->options->arg, fault, text);
}

int krc_verify_load(struct krc_verify *v, const char *name, struct krc_buffer *file,
                    krc_error *error)
{
    krc_error why;
    int rc = krc_load_file(v->log->place->folder, name, file, &why);
    if (rc == KRC_E_CORRUPT) {
        krc_verify_tell(v, true, "%s", why.message);
        return 0;
    }
    if (rc < 0 && error != NULL)
        *error = why;
    return rc;
}

bool krc_verify_may_lag(const struct krc_verify *v)
{
    return !v->log->place->stopped_cleanly && v->segments_begun == v->log->segment_count;
}

/* ---- Segment by segment -------------------------------------------------------------------- */

static int begin_segment(struct krc_verify *v, krc_error *error)
{
    if (v->segments_begun > 0)
        krc_verify_end_indexes(v);
    const struct krc_segment *segment = &v->log->segments[v->segments_begun];
    if (v->options->dump != KRC_DUMP_NOTHING)
        krc_dump_segment(v->options->out, v->log, v->segments_begun);
    v->segments_begun++;
    v->summary->segments++;
    v->summary->bytes += segment->size;
    return krc_verify_load_indexes(v, error);
}

static int go_to_segment(struct krc_verify *v, size_t segment, krc_error *error)
{
    while (v->segments_begun <= segment && v->segments_begun < v->log->segment_count)
        KRC_TRY(begin_segment(v, error));
    return KRC_OK;
}

/* ---- Batch by batch ------------------------------------------------------------------------ */

static void tell_batch(struct krc_verify *v, bool fault, const struct krc_log_batch *batch,
                       const char *text)
{
    char path[PATH_MAX];
    krc_log_path(v->log, batch->segment, ".log", path, sizeof path);
    krc_verify_tell(v, fault, "%s: byte %" PRId64 " of %s", text, batch->file_position, path);
}

/* The records, whole; `*last` is the last one's offset.  What cannot be read is a fault. */
static void check_records(struct krc_verify *v, const struct krc_log_batch *batch, int64_t *last)
{
    const struct krc_batch_header *header = &batch->header;
    struct krc_records records;
    krc_error why;
    *last = header->last_offset;
    if (krc_records_open(&records, batch->bytes, header, v->codecs,
                         (size_t)v->limits->max_decompressed_bytes, &v->scratch, &why) < 0) {
        tell_batch(v, true, batch, why.message);
        return;
    }
    if (records.count > 0)
        *last = records.last_offset;
    v->summary->records += records.count;
    if (records.trailing > 0) {
        krc_batch_fail(header, &why, KRC_E_CORRUPT, "%zu bytes follow its compressed records",
                       records.trailing);
        tell_batch(v, false, batch, why.message);
    }
    if (v->options->dump == KRC_DUMP_RECORDS)
        krc_dump_records(v->options->out, header, &records);
    krc_buffer_trim(&v->scratch, 1 << 20);
}

/* The checkpoint's epoch for a batch is its own.  Below the checkpoint's first offset, the log
 * start, it says nothing.  Each of its lines is blamed once. */
static void check_epoch(struct krc_verify *v, const struct krc_batch_header *header)
{
    const struct krc_log *log = v->log;
    size_t line = 0;
    while (line < log->epoch_count && log->epochs[line].start_offset <= header->last_offset)
        line++;
    if (line == 0 || line <= v->epoch_told || header->magic < 2 ||
        log->epochs[line - 1].epoch == header->leader_epoch)
        return;
    krc_verify_tell(v, true,
                    "the batch of offsets %" PRId64 " to %" PRId64 " is of leader epoch %" PRId32
                    ", not %" PRId32 ": line %zu of %s/leader-epoch-checkpoint",
                    header->base_offset, header->last_offset, header->leader_epoch,
                    log->epochs[line - 1].epoch, line + 2, log->place->folder);
    v->epoch_told = line;
}

static int check_batch(struct krc_verify *v, const struct krc_log_batch *batch, krc_error *error)
{
    const struct krc_batch_header *header = &batch->header;
    int64_t last_record;
    int control_type;
    krc_error why;
    KRC_TRY(go_to_segment(v, batch->segment, error));
    if (v->options->dump != KRC_DUMP_NOTHING)
        krc_dump_batch(v->options->out, batch);
    v->summary->batches++;
    check_records(v, batch, &last_record);
    if (krc_batch_control_type(batch->bytes, header, &control_type, &why) < 0)
        tell_batch(v, true, batch, why.message);
    if (header->magic == 2 && header->base_offset != v->next_offset)
        v->last_gap = header->base_offset;
    KRC_TRY(krc_verify_snapshots(v, header->base_offset, error));
    krc_verify_index(v, batch, last_record);
    krc_verify_timeindex(v, batch);
    KRC_TRY(krc_verify_transactions(v, batch, control_type, error));
    check_epoch(v, header);
    v->next_offset = header->last_offset + 1;
    v->end_known = true;
    return krc_verify_snapshots(v, v->next_offset, error);
}

static int pass_damage(struct krc_verify *v, const krc_error *why, krc_error *error)
{
    struct krc_damage damage;
    krc_verify_tell(v, true, "%s", why->message);
    KRC_TRY(krc_reader_resync(v->reader, &damage, error));
    KRC_TRY(go_to_segment(v, damage.segment, error));
    krc_verify_skip_indexes(v, &damage);
    v->end_known = false;
    return KRC_OK;
}

static int read_log(struct krc_verify *v, krc_error *error)
{
    struct krc_log_batch batch;
    krc_error why;
    int rc;
    while ((rc = krc_reader_next(v->reader, &batch, &why)) != 0) {
        if (rc == KRC_E_CORRUPT) {
            KRC_TRY(pass_damage(v, &why, error));
        } else if (rc < 0) {
            *error = why;
            return rc;
        } else {
            KRC_TRY(check_batch(v, &batch, error));
        }
    }
    return go_to_segment(v, v->log->segment_count, error);
}

/* ---- The end ------------------------------------------------------------------------------- */

static void check_checkpoint(struct krc_verify *v, const char *name, int64_t offset)
{
    if (offset > v->summary->log_end_offset)
        krc_verify_tell(v, !krc_verify_may_lag(v),
                        "the log ends at offset %" PRId64 ", before its %" PRId64 " in %s: %s",
                        v->summary->log_end_offset, offset, name, v->log->place->folder);
}

static void tell_orphans(struct krc_verify *v)
{
    const struct krc_log *log = v->log;
    for (size_t i = 0; i < log->orphan_count; i++)
        krc_verify_tell(v, true, "a segment is missing, of which an index is there: %s/%020" PRId64
                        ".log", log->place->folder, log->orphans[i]);
}

static int end_log(struct krc_verify *v, krc_error *error)
{
    const struct krc_log *log = v->log;
    const char *tail = krc_reader_tail(v->reader);
    int64_t end = v->next_offset;
    if (log->segment_count > 0) {
        krc_verify_end_indexes(v);
        if (log->segments[log->segment_count - 1].base_offset > end)
            end = log->segments[log->segment_count - 1].base_offset;
    }
    v->summary->log_start_offset = log->log_start_offset;
    v->summary->log_end_offset = end;
    tell_orphans(v);
    if (tail[0] != '\0')
        krc_verify_tell(v, log->place->stopped_cleanly, "%s", tail);
    KRC_TRY(krc_verify_snapshots(v, end, error));
    krc_verify_end_transactions(v);
    if (!v->end_known || log->place->file != NULL)
        return KRC_OK;
    krc_verify_end_snapshots(v);
    check_checkpoint(v, "log-start-offset-checkpoint", log->place->log_start_offset);
    check_checkpoint(v, "replication-offset-checkpoint", log->place->high_watermark);
    check_checkpoint(v, "recovery-point-offset-checkpoint", log->place->recovery_point);
    check_checkpoint(v, "cleaner-offset-checkpoint", log->place->cleaned_to);
    return KRC_OK;
}

static int verify_log(struct krc_verify *v, krc_error *error)
{
    v->codecs = krc_codecs_new();
    if (v->codecs == NULL)
        return krc_fail(error, KRC_E_NOMEM, "out of memory");
    KRC_TRY(krc_reader_open(&v->reader, v->log, v->limits->max_batch_bytes, error));
    KRC_TRY(krc_verify_list_snapshots(v, error));
    KRC_TRY(read_log(v, error));
    return end_log(v, error);
}

static void free_verify(struct krc_verify *v)
{
    for (int kind = 0; kind < KRC_INDEX_KINDS; kind++)
        krc_buffer_free(&v->index[kind].file);
    krc_buffer_free(&v->scratch);
    krc_producers_free(&v->open);
    krc_codecs_free(v->codecs);
    krc_reader_close(v->reader);
    free(v->snapshots);
}

int krc_verify_log(const struct krc_log_place *place, const struct krc_verify_limits *limits,
                   const struct krc_verify_options *options, struct krc_verify_summary *summary,
                   krc_error *error)
{
    struct krc_log *log;
    *summary = (struct krc_verify_summary){0};
    KRC_TRY(krc_log_open(&log, place, limits->format_07, error));
    struct krc_verify v = {
        .log = log,
        .limits = limits,
        .options = options,
        .summary = summary,
        .index_says = -1,
        .end_known = true,
    };
    int rc = verify_log(&v, error);
    free_verify(&v);
    krc_log_close(log);
    return rc;
}
