#include "tests/support/consume.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

krc *consume_open(const char *path, ...)
{
    krc *handle;
    krc_error error = {0};
    krc_config *config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    ck_assert_int_eq(krc_config_add_log_dir(config, path, &error), KRC_OK);
    va_list settings;
    va_start(settings, path);
    for (const char *name; (name = va_arg(settings, const char *)) != NULL;)
        ck_assert_msg(krc_config_set(config, name, va_arg(settings, const char *), &error) == 0,
                      "%s", error.message);
    va_end(settings);
    ck_assert_msg(krc_open(&handle, config, &error) == KRC_OK, "%s", error.message);
    krc_config_free(config);
    return handle;
}

void consume_assign(krc *handle, const char *topic, int32_t partition, int64_t start, int64_t until)
{
    krc_error error = {0};
    ck_assert_msg(krc_assign(handle, topic, partition, start, until, &error) == KRC_OK, "%s",
                  error.message);
}

/* A text that offsets are added to as ranges. */
struct offsets {
    char text[8192];
    size_t len;
    int64_t first, last;
};

static void end_range(struct offsets *o)
{
    if (o->first < 0)
        return;
    const char *blank = o->len > 0 ? " " : "";
    size_t room = sizeof o->text - o->len;
    int n = o->first == o->last
                ? snprintf(o->text + o->len, room, "%s%lld", blank, (long long)o->first)
                : snprintf(o->text + o->len, room, "%s%lld-%lld", blank, (long long)o->first,
                           (long long)o->last);
    ck_assert_uint_lt((size_t)n, room);
    o->len += (size_t)n;
}

static void add_offset(struct offsets *o, int64_t offset)
{
    if (o->first < 0 || offset != o->last + 1) {
        end_range(o);
        o->first = offset;
    }
    o->last = offset;
}

const char *consume_all(krc *handle)
{
    static struct offsets o;
    krc_error error = {0};
    krc_batch *batch;
    struct krc_batch_info info;
    struct krc_record record;
    int rc;
    o = (struct offsets){.first = -1};
    while ((rc = krc_poll(handle, -1, &batch)) == 1) {
        int32_t count = 0;
        for (; krc_next(batch, &record) == 1; count++)
            add_offset(&o, record.offset);
        krc_batch_info(batch, &info);
        ck_assert(count > 0 && count == info.records);
        ck_assert_msg(krc_ack(handle, info.topic, info.partition, info.next_offset, &error) == 0,
                      "%s", error.message);
        krc_release(batch);
    }
    end_range(&o);
    if (rc < 0)
        snprintf(o.text + o.len, sizeof o.text - o.len, "%s!%s", o.len > 0 ? " " : "",
                 krc_code_name(rc));
    ck_assert_int_eq(krc_last_error(handle)->code, rc);
    return o.text;
}

void consume_events(krc *handle, struct consume_events *events)
{
    size_t len = 0, said = 0;
    *events = (struct consume_events){.text = ""};
    for (struct krc_event event; krc_event_next(handle, &event) == 1;) {
        if (event.type == KRC_EVENT_CAUGHT_UP)
            continue;
        len += (size_t)snprintf(events->text + len, sizeof events->text - len, "%s%s %lld %lld",
                                len > 0 ? "; " : "", krc_event_name(event.type), (long long)event.from,
                                (long long)event.to);
        said += (size_t)snprintf(events->messages + said, sizeof events->messages - said, "%s\n",
                                 event.message);
        ck_assert(len < sizeof events->text && said < sizeof events->messages);
    }
}

const char *account_text(const struct krc_account *a)
{
    static char texts[4][256];
    static unsigned next;
    char *text = texts[next++ % 4];
    const struct {
        const char *name;
        int64_t count;
    } fates[] = {{"delivered", a->delivered}, {"aborted", a->aborted}, {"control", a->control},
                 {"absent", a->absent},       {"lost", a->lost},       {"skipped", a->skipped}};
    int64_t sum = 0;
    int len = snprintf(text, sizeof *texts, "%lld-%lld", (long long)a->from, (long long)a->to);
    for (size_t i = 0; i < sizeof fates / sizeof *fates; i++) {
        ck_assert_int_ge(fates[i].count, 0);
        if (fates[i].count > 0)
            len += snprintf(text + len, sizeof *texts - (size_t)len, "%s %s %lld",
                            sum > 0 ? "," : ":", fates[i].name, (long long)fates[i].count);
        sum += fates[i].count;
    }
    ck_assert_msg(sum == a->to - a->from, "%lld fates: %s", (long long)sum, text);
    return text;
}

struct krc_position consume_position(krc *handle, const char *topic, int32_t partition)
{
    struct krc_position position;
    ck_assert_int_eq(krc_position(handle, topic, partition, &position), KRC_OK);
    return position;
}

const char *consume_account(krc *handle, const char *topic, int32_t partition)
{
    struct krc_position position = consume_position(handle, topic, partition);
    return account_text(&position.read);
}

void check_says(const char *message, const char *piece)
{
    ck_assert_msg(strstr(message, piece) != NULL, "no \"%s\" in: %s", piece, message);
}
