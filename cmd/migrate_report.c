/*
 * A line is
 *     {"group":…,"from":…,"to":…,"toGroup":…,"topic":…,"toTopic":…,             which partition
 *      "topicId":…,"toTopicId":…,"partition":…,"fromOffset":…,
 *      "toOffset":…,"verdict":…,"committed":…,                                  what became of it
 *      "recordOffset":…,"before":…,"after":…,"byNeighbours":…,"timestampsLeftOut":…,"again":…,
 *      "evidence":…}                                                            why
 * and is found again by its beginning.  Of several the last one counts.  "toTopic" is there where
 * it is another name.
 */
#include "cmd/migrate_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

#define MAX_REPORT_BYTES (256 << 20)

/* ---- Lines ----------------------------------------------------------------------------------- */

static void print_text(const char *name, const char *text, FILE *out)
{
    krc_write_json_text(name, text, out);
    putc(',', out);
}

static void print_number(const char *name, int64_t number, FILE *out)
{
    fprintf(out, number < 0 ? "\"%s\":null," : "\"%s\":%" PRId64 ",", name, number);
}

static void print_truth(const char *name, bool truth, FILE *out)
{
    fprintf(out, "\"%s\":%s,", name, truth ? "true" : "false");
}

/* As Kafka's tools show it; null where it is not known. */
static void print_id(const char *name, const struct krc_uuid *id, FILE *out)
{
    static const struct krc_uuid unknown;
    bool is_known = memcmp(id, &unknown, sizeof unknown) != 0;
    char text[KRC_UUID_LETTERS + 1];
    krc_uuid_format(id, text);
    if (is_known)
        fprintf(out, "\"%s\":\"%s\",", name, text);
    else
        fprintf(out, "\"%s\":null,", name);
}

static void print_partition(const struct migrate_report *report,
                            const struct migrate_entry *entry, FILE *out)
{
    putc('{', out);
    print_text("group", report->from_group, out);
    print_text("from", report->from, out);
    print_text("to", report->to, out);
    print_text("toGroup", report->to_group, out);
    print_text("topic", entry->row->topic, out);
    if (strcmp(entry->to_topic, entry->row->topic) != 0)
        print_text("toTopic", entry->to_topic, out);
    print_id("topicId", &entry->topic_id, out);
    print_id("toTopicId", &entry->to_topic_id, out);
    print_number("partition", entry->row->partition, out);
    print_number("fromOffset", entry->row->offset, out);
}

void report_print(const struct migrate_report *report, const struct migrate_entry *entry,
                  FILE *out)
{
    const struct krc_migration *m = &entry->result;
    print_partition(report, entry, out);
    print_number("toOffset", m->offset, out);
    print_text("verdict", krc_verdict_name(m->verdict), out);
    print_truth("committed", entry->committed, out);
    print_number("recordOffset", m->record_offset, out);
    print_number("before", m->before, out);
    print_number("after", m->after, out);
    print_truth("byNeighbours", m->by_neighbours, out);
    print_truth("timestampsLeftOut", m->timeless, out);
    print_number("again", m->again, out);
    fputs("\"evidence\":", out);
    krc_write_json_string(m->evidence, out);
    fputs("}\n", out);
}

/* ---- The file -------------------------------------------------------------------------------- */

static int fail(const struct migrate_report *report, const char *what, krc_error *error)
{
    return cmd_error(error, KRC_E_IO, "cannot %s the report %s: %s", what, report->path,
                     strerror(errno));
}

static int read_file(struct migrate_report *report, FILE *in, krc_error *error)
{
    if (fseeko(in, 0, SEEK_END) < 0)
        return fail(report, "read", error);
    off_t size = ftello(in);
    if (size > MAX_REPORT_BYTES)
        return cmd_error(error, KRC_E_TOO_LARGE, "the report %s is larger than %d MiB",
                         report->path, MAX_REPORT_BYTES >> 20);
    report->text = malloc((size_t)size + 1);
    if (report->text == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    rewind(in);
    size_t len = fread(report->text, 1, (size_t)size, in);
    report->text[len] = '\0';
    return ferror(in) ? fail(report, "read", error) : KRC_OK;
}

/* What is appended to something else would spoil it. */
static int check_text(const struct migrate_report *report, krc_error *error)
{
    static const char beginning[] = "{\"group"; /* or groupBase64 */
    if (report->text[0] == '\0' || strncmp(report->text, beginning, sizeof beginning - 1) == 0)
        return KRC_OK;
    return cmd_error(error, KRC_E_MISMATCH, "%s is no report of a migration: name another file",
                     report->path);
}

/* A line that a run had no time to end is ended. */
static void end_line(const struct migrate_report *report)
{
    size_t len = strlen(report->text);
    if (len > 0 && report->text[len - 1] != '\n')
        putc('\n', report->out);
}

int report_open(struct migrate_report *report, krc_error *error)
{
    if (report->path == NULL)
        return KRC_OK;
    report->out = fopen(report->path, "a+e");
    if (report->out == NULL)
        return fail(report, "open", error);
    int rc = read_file(report, report->out, error);
    if (rc == KRC_OK)
        rc = check_text(report, error);
    if (rc == KRC_OK)
        end_line(report);
    return rc;
}

void report_close(struct migrate_report *report)
{
    if (report->out != NULL)
        fclose(report->out);
    free(report->text);
}

int report_add(const struct migrate_report *report, const struct migrate_entry *entry,
               krc_error *error)
{
    if (report->out == NULL)
        return KRC_OK;
    report_print(report, entry, report->out);
    return fflush(report->out) == 0 ? KRC_OK : fail(report, "write", error);
}

/* ---- An earlier run -------------------------------------------------------------------------- */

/* The rest of the last whole line that begins so; NULL: there is none. */
static const char *find_line(const char *text, const char *beginning)
{
    size_t len = strlen(beginning);
    const char *found = NULL, *end;
    for (; (end = strchr(text, '\n')) != NULL; text = end + 1)
        if (strncmp(text, beginning, len) == 0)
            found = text + len;
    return found;
}

static void recall(const char *line, struct migrate_entry *entry)
{
    struct krc_migration *m = &entry->result;
    char verdict[16], committed[6];
    int64_t offset;
    if (sscanf(line, "\"toOffset\":%" SCNd64 ",\"verdict\":\"%15[a-z ]\",\"committed\":%5[a-z]",
               &offset, verdict, committed) != 3 || offset < 0)
        return;
    for (int i = KRC_NOT_FOUND + 1; i <= KRC_SAME; i++)
        if (strcmp(verdict, krc_verdict_name((enum krc_verdict)i)) == 0) {
            *m = (struct krc_migration){.topic = entry->row->topic,
                                        .to_topic = entry->to_topic,
                                        .partition = entry->row->partition,
                                        .committed = entry->row->offset,
                                        .verdict = (enum krc_verdict)i,
                                        .offset = offset,
                                        .record_offset = -1,
                                        .again = -1,
                                        .evidence = "an earlier run has found it"};
            entry->was_reported = true;
            entry->committed = strcmp(committed, "true") == 0;
        }
}

void report_recall(const struct migrate_report *report, struct migrate_entry *entry)
{
    char *beginning = NULL;
    size_t len;
    FILE *out = report->text == NULL ? NULL : open_memstream(&beginning, &len);
    if (out == NULL)
        return;
    print_partition(report, entry, out);
    if (fclose(out) == 0) {
        const char *line = find_line(report->text, beginning);
        if (line != NULL)
            recall(line, entry);
    }
    free(beginning);
}
