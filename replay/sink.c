#include "replay/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"
#include "replay/json.h"

enum { HOUR_MS = 3600 * 1000, ROW_BYTES = 64 };

static const int64_t segment_bytes = 1 << 30; /* Kafka's default; its positions are 32 bits */

static bool is_segment(const struct krc_sink *sink)
{
    return sink->run->options->format == KRC_REPLAY_SEGMENT;
}

static bool is_sqlite(const struct krc_sink *sink)
{
    return sink->run->insert != NULL;
}

static int64_t rotate_bytes(const struct krc_sink *sink)
{
    int64_t bytes = sink->run->options->rotate_bytes;
    if (is_segment(sink) && (bytes == 0 || bytes > segment_bytes))
        return segment_bytes;
    return bytes;
}

static bool is_full(const struct krc_sink *sink)
{
    int64_t most = rotate_bytes(sink);
    return most > 0 && sink->at.length >= most;
}

/* ---- Open and close ------------------------------------------------------------------------ */

static int open_file(struct krc_sink *sink, krc_error *error)
{
    char name[KRC_SINK_NAME_MAX + 40], path[4096];
    krc_sink_file_name(sink, name, sizeof name);
    int folder = is_segment(sink) ? sink->segment_folder : sink->run->folder;
    snprintf(path, sizeof path, "%s", sink->run->folder_path);
    if (is_segment(sink)) {
        char stem[KRC_SINK_NAME_MAX];
        krc_sink_stem(sink->place->topic, sink->place->partition, sink->at.history, stem,
                      sizeof stem);
        snprintf(path, sizeof path, "%.3700s/%s", sink->run->folder_path, stem);
    }
    return krc_outfile_open(&sink->file, folder, path, name, sink->at.length, error);
}

/* DIR/TOPIC-PARTITION for segments, its entry in DIR on disk before anything is committed. */
static int open_segment_folder(struct krc_sink *sink, krc_error *error)
{
    char stem[KRC_SINK_NAME_MAX];
    krc_sink_stem(sink->place->topic, sink->place->partition, sink->at.history, stem, sizeof stem);
    if (mkdirat(sink->run->folder, stem, 0755) == 0) {
        if (fsync(sink->run->folder) != 0)
            return krc_fail_errno(error, "cannot flush %s", sink->run->folder_path);
    } else if (errno != EEXIST) {
        return krc_fail_errno(error, "cannot make %s/%s", sink->run->folder_path, stem);
    }
    sink->segment_folder =
        openat(sink->run->folder, stem, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sink->segment_folder < 0)
        return krc_fail_errno(error, "cannot open %s/%s", sink->run->folder_path, stem);
    return KRC_OK;
}

int krc_sink_open(struct krc_sink *sink, const struct krc_sink_run *run,
                  const struct krc_place *place, const struct krc_stored_sink *stored,
                  int32_t history, krc_error *error)
{
    static const int codecs[] = {[KRC_REPLAY_PLAIN] = KRC_NONE,
                                 [KRC_REPLAY_GZIP] = KRC_GZIP,
                                 [KRC_REPLAY_ZSTD] = KRC_ZSTD};
    *sink = (struct krc_sink){.run = run, .place = place, .segment_folder = -1};
    krc_outfile_init(&sink->file, codecs[run->options->compression]);
    KRC_TRY(krc_check_topic_name(place->topic, error)); /* files are named by it */
    sink->at = (struct krc_stored_sink){
        .history = history, .file_offset = -1, .max_timestamp_ms = -1};
    if (stored != NULL && stored->history == history)
        sink->at = *stored;
    if (is_sqlite(sink))
        return KRC_OK;
    KRC_TRY(krc_json_prefix(&sink->json_start, place->topic, place->partition, error));
    if (sink->at.file_offset < 0)
        return KRC_OK;
    sink->full = is_full(sink);
    if (is_segment(sink))
        KRC_TRY(open_segment_folder(sink, error));
    return open_file(sink, error);
}

void krc_sink_roll_back(struct krc_sink *sink)
{
    if (sink->in_transaction)
        krc_store_rollback(sink->run->store);
    sink->in_transaction = false;
}

void krc_sink_close(struct krc_sink *sink)
{
    krc_sink_roll_back(sink);
    krc_outfile_free(&sink->file);
    if (sink->segment_folder >= 0)
        close(sink->segment_folder);
    krc_buffer_free(&sink->json_start);
    krc_buffer_free(&sink->row);
}

/* ---- Taking -------------------------------------------------------------------------------- */

static int64_t item_time(const struct krc_item *item)
{
    return item->batch.header.magic == 2 ? item->batch.header.max_timestamp
                                         : item->records.max_timestamp;
}

bool krc_sink_due_before(const struct krc_sink *sink, const struct krc_item *item)
{
    if (item->type != KRC_ITEM_RECORDS || sink->file.fd < 0 || sink->full)
        return false;
    if (is_segment(sink) &&
        item->batch.header.last_offset - sink->at.file_offset > INT32_MAX)
        return true;
    int64_t span_ms = sink->run->options->rotate_hours * (int64_t)HOUR_MS;
    return span_ms > 0 && sink->at.max_timestamp_ms >= 0 &&
           item_time(item) / span_ms > sink->at.max_timestamp_ms / span_ms;
}

/* A file for output that begins at `first_offset`: the present one, or another. */
static int have_file(struct krc_sink *sink, int64_t first_offset, krc_error *error)
{
    if (sink->file.fd >= 0 && !sink->full)
        return KRC_OK;
    krc_outfile_close(&sink->file);
    sink->full = false;
    sink->at.file_offset = first_offset;
    sink->at.length = 0;
    if (is_segment(sink) && sink->segment_folder < 0)
        KRC_TRY(open_segment_folder(sink, error));
    return open_file(sink, error);
}

struct krc_bytes krc_sink_delimiter(const krc_replay_options *options)
{
    static const uint8_t newline[] = {'\n'};
    return options->delimiter.data != NULL ? options->delimiter : (struct krc_bytes){newline, 1};
}

static int put_raw(struct krc_buffer *out, const struct krc_record *record,
                   struct krc_bytes delimiter, krc_error *error)
{
    KRC_TRY(krc_buffer_append(out, record->value.data, record->value.len, error));
    return krc_buffer_append(out, delimiter.data, delimiter.len, error);
}

static int put_record(struct krc_sink *sink, const struct krc_item *item,
                      const struct krc_record *record, krc_error *error)
{
    const krc_replay_options *options = sink->run->options;
    enum krc_timestamp_type type = (enum krc_timestamp_type)item->records.timestamp_type;
    if (is_sqlite(sink)) {
        sink->row.len = 0;
        KRC_TRY(krc_json_headers(&sink->row, record, false, error));
        sink->uncommitted +=
            (int64_t)(ROW_BYTES + record->key.len + record->value.len + sink->row.len);
        return krc_insert_row(sink->run->insert, sink->place, sink->at.history, record, type,
                              (struct krc_bytes){sink->row.data, sink->row.len}, error);
    }
    struct krc_buffer *out = &sink->file.plain;
    size_t before = out->len;
    if (options->format == KRC_REPLAY_RAW)
        KRC_TRY(put_raw(out, record, krc_sink_delimiter(options), error));
    else
        KRC_TRY(krc_json_line(out, &sink->json_start, record, type, options->base64, error));
    sink->uncommitted += (int64_t)(out->len - before);
    return krc_outfile_spill(&sink->file, error);
}

static int take_records(struct krc_sink *sink, struct krc_item *item, krc_error *error)
{
    struct krc_record record;
    bool first = true;
    if (is_sqlite(sink) && !sink->in_transaction) {
        KRC_TRY(krc_store_begin(sink->run->store, error));
        sink->in_transaction = true;
    }
    while (krc_records_next(&item->records, &record) && record.offset < item->to) {
        if (record.offset < item->from)
            continue;
        if (first && !is_sqlite(sink))
            KRC_TRY(have_file(sink, record.offset, error));
        first = false;
        KRC_TRY(put_record(sink, item, &record, error));
    }
    return KRC_OK;
}

/* A batch as it is, from its base offset on. */
static int take_bytes(struct krc_sink *sink, const struct krc_item *item, krc_error *error)
{
    const struct krc_batch_header *header = &item->batch.header;
    int64_t base = item->type == KRC_ITEM_RECORDS && header->magic < 2 ? item->records.first_offset
                                                                      : header->base_offset;
    KRC_TRY(have_file(sink, base, error));
    KRC_TRY(krc_buffer_append(&sink->file.plain, item->batch.bytes, (size_t)header->size, error));
    sink->uncommitted += header->size;
    return krc_outfile_spill(&sink->file, error);
}

/* Whether a segment keeps a batch that holds nothing to deliver: markers, but not those of aborted
 * transactions where these are left out. */
static int keeps_passed(const struct krc_sink *sink, const struct krc_item *item, krc_error *error)
{
    int type;
    if (!is_segment(sink) || item->fate != KRC_CONTROL || item->batch.bytes == NULL)
        return 0;
    KRC_TRY(krc_batch_control_type(item->batch.bytes, &item->batch.header, &type, error));
    return type != KRC_CONTROL_NONE &&
           (type != KRC_CONTROL_ABORT || sink->run->read_uncommitted);
}

int krc_sink_take(struct krc_sink *sink, struct krc_item *item, krc_error *error)
{
    if (item->type == KRC_ITEM_PASSED) {
        int keeps = keeps_passed(sink, item, error);
        return keeps > 0 ? take_bytes(sink, item, error) : keeps;
    }
    KRC_TRY(is_segment(sink) ? take_bytes(sink, item, error) : take_records(sink, item, error));
    if (item_time(item) > sink->at.max_timestamp_ms)
        sink->at.max_timestamp_ms = item_time(item);
    return KRC_OK;
}

/* ---- Committing ---------------------------------------------------------------------------- */

bool krc_sink_due(const struct krc_sink *sink)
{
    int64_t most = rotate_bytes(sink);
    if (sink->uncommitted >= sink->run->commit_interval)
        return true;
    if (most == 0 || sink->uncommitted == 0)
        return false;
    bool packed = sink->run->options->compression != KRC_REPLAY_PLAIN;
    return (packed ? 0 : sink->at.length) + sink->uncommitted >= most;
}

int krc_sink_rest(struct krc_sink *sink, krc_error *error)
{
    return is_sqlite(sink) || sink->file.fd < 0 ? KRC_OK : krc_outfile_rest(&sink->file, error);
}

int krc_sink_flush(struct krc_sink *sink, krc_error *error)
{
    if (is_sqlite(sink) || sink->file.fd < 0 || sink->uncommitted == 0)
        return KRC_OK;
    KRC_TRY(krc_outfile_flush(&sink->file, error));
    sink->at.length = sink->file.length;
    return KRC_OK;
}

void krc_sink_committed(struct krc_sink *sink)
{
    sink->uncommitted = 0;
    sink->in_transaction = false;
    sink->full = sink->full || is_full(sink);
}
