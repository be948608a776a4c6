#include "tests/support/reader.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/consume.h"

struct readers readers;

/* ---- What is said --------------------------------------------------------------------------- */

static const char *prefix_of(const struct reader *r)
{
    static char text[32];
    snprintf(text, sizeof text, "%s-%d ", r->place.topic, (int)r->place.partition);
    return r == &readers.list[0] ? "" : text;
}

static void say_event(void *arg, const struct krc_event *event,
                      const struct krc_offset_update *reset)
{
    struct reader *r = arg;
    (void)reset;
    if (event->type == KRC_EVENT_CAUGHT_UP)
        sim_say("%scaught up %lld", prefix_of(r), (long long)event->from);
    else
        sim_say("%s%s %lld %lld", prefix_of(r), krc_event_name(event->type), (long long)event->from,
                (long long)event->to);
}

static void say_passed(const struct reader *r, const struct krc_item *item)
{
    static const char *const fates[] = {[KRC_ABORTED] = "aborted",
                                        [KRC_CONTROL] = "control",
                                        [KRC_ABSENT] = "absent",
                                        [KRC_LOST] = "lost",
                                        [KRC_SKIPPED] = "skipped"};
    sim_say("%spassed %lld-%lld %s", prefix_of(r), (long long)item->from, (long long)item->to - 1,
            fates[item->fate]);
}

/* Their offsets, as far as they are without a gap, and whether each is what was put there. */
static void say_records(const struct reader *r, struct krc_item *item)
{
    struct krc_record record;
    int64_t first = -1, next = -1;
    char text[512], value[24];
    int len = snprintf(text, sizeof text, "%srecords", prefix_of(r));
    while (krc_records_next(&item->records, &record)) {
        if (record.offset < item->from || record.offset >= item->to)
            continue;
        snprintf(value, sizeof value, "v%lld", (long long)record.offset);
        if (record.key.data != NULL && record.key.len > 1 && record.key.data[0] == 'k')
            ck_assert(record.value.len == strlen(value) &&
                      memcmp(record.value.data, value, record.value.len) == 0);
        if (record.offset != next && first >= 0)
            len += snprintf(text + len, sizeof text - (size_t)len, " %lld-%lld", (long long)first,
                            (long long)next - 1);
        if (record.offset != next)
            first = record.offset;
        next = record.offset + 1;
        readers.records++;
    }
    sim_say("%s %lld-%lld", text, (long long)first, (long long)next - 1);
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void say_item(struct reader *r, struct krc_item *item)
{
    if (item->type == KRC_ITEM_RECORDS)
        say_records(r, item);
    else if (item->type == KRC_ITEM_PASSED)
        say_passed(r, item);
    else if (item->type == KRC_ITEM_END)
        sim_say("%send %lld", prefix_of(r), (long long)item->to);
}

/* Once it has ended or failed, nothing is taken any more. */
static void take_one(struct reader *r)
{
    struct krc_item item = {.type = KRC_ITEM_WAIT};
    int rc = KRC_OK;
    if (!r->is_held && !r->is_done)
        rc = krc_tracker_next(&r->tracker, &readers.scratch, &item, &r->error);
    if (rc < 0)
        sim_say("%sfails at %lld: %s", prefix_of(r), (long long)reader_position(r),
                krc_code_name(rc));
    else
        say_item(r, &item);
    r->is_done |= rc < 0 || item.type == KRC_ITEM_END;
    if (r->is_done || item.type == KRC_ITEM_WAIT)
        krc_remote_not_ready(r->remote);
    ck_assert_ptr_null(krc_offsets_invariant(&r->tracker.offsets));
}

static void open_one(struct reader *r)
{
    struct krc_source *source;
    krc_error error;
    if (!r->topic->is_known || krc_topic_partition(r->topic, r->place.partition) == NULL)
        return;
    r->place.topic_id = r->topic->id;
    ck_assert_int_eq(krc_netsource_new(&source, &sim.cluster, r->topic, r->place.partition,
                                       readers.config, readers.codecs, r, &error),
                     KRC_OK);
    source->until = r->until;
    source->asks_group = r->asks_group;
    r->remote = krc_netsource_of(source)->remote;
    krc_tracker_open(&r->tracker, &r->place, source, say_event, r);
    r->tracker.now_ms = sim.now_ms;
    ck_assert_int_eq(krc_tracker_assign(&r->tracker, r->start, &r->stored, &error), KRC_OK);
    krc_remote_ready(r->remote);
}

static void read_all(void)
{
    struct krc_remote *remote;
    for (int i = 0; i < readers.count; i++)
        if (readers.list[i].remote == NULL)
            open_one(&readers.list[i]);
    while ((remote = krc_remote_first_ready(&sim.cluster)) != NULL)
        take_one(remote->owner);
}

/* ---- From outside --------------------------------------------------------------------------- */

struct reader *read_to(const char *topic, int32_t partition, int64_t start, int64_t until)
{
    ck_assert_int_lt(readers.count, READERS);
    if (!sim.is_open)
        sim_start("n1");
    struct reader *r = &readers.list[readers.count++];
    *r = (struct reader){.place = {.topic = topic, .partition = partition},
                         .start = start,
                         .until = until,
                         .topic = krc_topic_want(&sim.cluster, topic)};
    ck_assert_ptr_nonnull(r->topic);
    return r;
}

struct reader *read_from(const char *topic, int32_t partition, int64_t start)
{
    return read_to(topic, partition, start, KRC_NO_END);
}

struct reader *read_stored(const char *topic, int32_t partition, int64_t offset, int32_t epoch)
{
    struct reader *r = read_from(topic, partition, KRC_STORED);
    r->stored = (struct krc_start){.found = true, .offset = offset, .epoch = epoch};
    return r;
}

void reader_seek(struct reader *r, int64_t start)
{
    krc_error error;
    r->is_done = false;
    ck_assert_int_eq(krc_tracker_assign(&r->tracker, start, NULL, &error), KRC_OK);
    krc_remote_ready(r->remote);
}

void reader_pause(struct reader *r, bool paused)
{
    r->is_held = paused;
    krc_remote_pause(r->remote, paused);
}

int64_t reader_position(const struct reader *r)
{
    return r->tracker.offsets.position;
}

const char *reader_account(struct reader *r)
{
    return account_text(&r->tracker.offsets.account);
}

void reader_set(const char *name, const char *value)
{
    krc_error error;
    int rc = krc_config_set(readers.config, name, value, &error);
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
}

void open_readers(void)
{
    world_open();
    sim_open();
    sim.each_turn = read_all;
    readers = (struct readers){.config = krc_config_new(), .codecs = krc_codecs_new()};
    reader_set("isolation.level", "read_committed");
}

void close_readers(void)
{
    for (int i = 0; i < readers.count; i++)
        if (readers.list[i].remote != NULL)
            krc_tracker_close(&readers.list[i].tracker);
    sim_close();
    world_close();
    krc_codecs_free(readers.codecs);
    krc_config_free(readers.config);
    krc_buffer_free(&readers.scratch);
}
