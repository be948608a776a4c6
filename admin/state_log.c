#include "admin/state_log.h"

#include <stdio.h>
#include <string.h>

#include "consumer/config.h"
#include "consumer/handle.h"

struct reading {
    const struct krc *handle;
    krc_state_record_fn *record, *pending;
    void *arg;
    struct krc_log *log;
    struct krc_reader *reader;
    struct krc_lookahead ahead;
    struct krc_buffer scratch;
    krc_error *error;
};

/* Says which record an error is about. */
static int place_error(struct reading *r, int64_t offset, int rc)
{
    const struct krc_log_place *place = r->log->place;
    char what[sizeof r->error->message];
    if (r->error == NULL)
        return rc;
    snprintf(what, sizeof what, "%s", r->error->message);
    krc_fail(r->error, rc, "%s-%d, offset %lld: %.900s", place->topic, (int)place->partition,
             (long long)offset, what);
    krc_error_at(r->error, place->topic, place->partition, offset, -1);
    return rc;
}

static int read_records(struct reading *r, const struct krc_log_batch *batch,
                        krc_state_record_fn *each)
{
    struct krc_records records;
    struct krc_record record;
    int rc = krc_records_open(&records, batch->bytes, &batch->header, r->handle->codecs,
                              (size_t)r->handle->config->max_decompressed_bytes, &r->scratch,
                              r->error);
    if (rc == KRC_E_CORRUPT && r->handle->config->skip_corrupt)
        return KRC_OK;
    if (rc < 0)
        krc_log_batch_place(r->log, batch, r->error);
    while (rc >= 0 && krc_records_next(&records, &record)) {
        if (record.offset < r->log->log_start_offset)
            continue;
        rc = each(r->arg, &record, r->error);
        if (rc < 0 && rc != KRC_E_NOMEM)
            return place_error(r, record.offset, rc);
    }
    return rc;
}

static int read_batch(struct reading *r, const struct krc_log_batch *batch)
{
    enum krc_txn_fate fate = KRC_TXN_COMMITTED;
    if (batch->header.control)
        return KRC_OK;
    if (batch->header.transactional)
        KRC_TRY(krc_lookahead_fate(&r->ahead, &batch->header, &fate, r->error));
    krc_state_record_fn *each = fate == KRC_TXN_COMMITTED   ? r->record
                                : fate == KRC_TXN_UNDECIDED ? r->pending
                                                            : NULL;
    return each == NULL ? KRC_OK : read_records(r, batch, each);
}

static int go_past_damage(struct reading *r, int rc)
{
    struct krc_damage damage;
    if (rc != KRC_E_CORRUPT || !r->handle->config->skip_corrupt)
        return rc;
    return krc_reader_resync(r->reader, &damage, r->error);
}

static int read_log(struct reading *r)
{
    struct krc_log_batch batch;
    int rc = krc_reader_seek(r->reader, r->log->log_start_offset, r->error);
    while (rc >= 0) {
        rc = krc_reader_next(r->reader, &batch, r->error);
        if (rc == 0)
            return KRC_OK;
        if (rc > 0)
            rc = read_batch(r, &batch);
        else
            rc = go_past_damage(r, rc);
    }
    return rc;
}

static int read_partition(struct reading *r, const struct krc_log_place *place)
{
    const struct krc_config *config = r->handle->config;
    KRC_TRY(krc_log_open(&r->log, place, config->format_07, r->error));
    krc_lookahead_init(&r->ahead, r->log, config->skip_corrupt);
    int rc = krc_reader_open(&r->reader, r->log, config->max_message_bytes, r->error);
    if (rc >= 0)
        rc = read_log(r);
    krc_reader_close(r->reader);
    krc_lookahead_free(&r->ahead);
    krc_log_close(r->log);
    r->reader = NULL;
    return rc;
}

int krc_state_log_read(const krc *handle, const char *topic, krc_state_record_fn *record,
                       krc_state_record_fn *pending, void *arg, krc_error *error)
{
    struct reading reading = {
        .handle = handle, .record = record, .pending = pending, .arg = arg, .error = error};
    bool found = false;
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < handle->places.count; i++) {
        if (strcmp(handle->places.list[i].topic, topic) != 0)
            continue;
        found = true;
        rc = read_partition(&reading, &handle->places.list[i]);
    }
    krc_buffer_free(&reading.scratch);
    if (rc >= 0 && !found)
        return krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no %s", topic);
    return rc;
}
