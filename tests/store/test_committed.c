#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <krc-tools.h>

#include "store/store.h"
#include "tests/support/moves.h"
#include "tests/support/run.h"

static krc_error error;

/* Parses, and gives back what the list then is: "group/topic/partition=offset,epoch,metadata;". */
static const char *parsed(const char *text, const char *group)
{
    static char seen[4096];
    const struct krc_committed *row;
    krc_committed_list *list = krc_committed_new();
    seen[0] = '\0';
    if (krc_committed_parse(list, text, strlen(text), group, &error) < 0) {
        ck_assert_int_eq(error.code, KRC_E_INVALID);
        snprintf(seen, sizeof seen, "%s", error.message);
    }
    for (size_t i = 0; seen[0] != 'l' && (row = krc_committed_at(list, i)) != NULL; i++) {
        size_t len = strlen(seen);
        snprintf(seen + len, sizeof seen - len, "%s/%s/%d=%lld,%d,%s;", row->group, row->topic,
                 row->partition, (long long)row->offset, row->leader_epoch,
                 row->metadata == NULL ? "-" : row->metadata);
    }
    krc_committed_free(list);
    return seen;
}

/* How kafka-consumer-groups.sh writes it, and what people type. */
START_TEST(csv_is_read)
{
    ck_assert_str_eq(parsed("t1,0,5\nt1,1,9223372036854775807\n\n", NULL),
                     "default/t1/0=5,-1,-;default/t1/1=9223372036854775807,-1,-;");
    ck_assert_str_eq(parsed("t,2147483647,0", "my group"), "my group/t/2147483647=0,-1,-;");
    ck_assert_str_eq(parsed("\"a topic\",0,1", NULL), "line 1, column 1: \"a topic\" is not a "
                     "valid topic name: use 1 to 249 letters, digits, '.', '_' and '-', but not "
                     "\".\" or \"..\"");
    ck_assert_str_eq(parsed("\"my group, \"\"1\"\"\",\"t\",\"0\",\"7\"\r\ng,t,0,8\r\n", NULL),
                     "g/t/0=8,-1,-;my group, \"1\"/t/0=7,-1,-;");
    ck_assert_str_eq(parsed("b,1,1\na,10,1\na,9,1\n", "g"),
                     "g/a/9=1,-1,-;g/a/10=1,-1,-;g/b/1=1,-1,-;");
    ck_assert_str_eq(parsed("[x,t,0,5", NULL), "[x/t/0=5,-1,-;");
    ck_assert_str_eq(parsed("\"g\nh\r\n\",t,0,5\ng,t,0,6\n", NULL),
                     "g/t/0=6,-1,-;g\nh\r\n/t/0=5,-1,-;");
    ck_assert_str_eq(parsed("\xef\xbb\xbft,0,5\n", "g"), "g/t/0=5,-1,-;");
    ck_assert_str_eq(parsed("\xef\xbb\xbf", "g"), "");
    ck_assert_str_eq(parsed("", NULL), "");
}
END_TEST

START_TEST(csv_faults_are_placed)
{
    static const struct {
        const char *text, *message;
    } faults[] = {
        {"t,0,5\nt,x,5\n", "line 2, column 3: \"x\" is no partition, a number from 0 to 2147483647"},
        {"t,0,5\n\nt,1,-1\n",
         "line 3, column 5: \"-1\" is no offset, a number from 0 to 9223372036854775807"},
        {"t,0,9223372036854775808",
         "line 1, column 5: \"9223372036854775808\" is no offset, a number from 0 to "
         "9223372036854775807"},
        {"t,2147483648,0", "line 1, column 3: \"2147483648\" is no partition, a number from 0 to "
                           "2147483647"},
        {"t,0, 5", "line 1, column 5: \" 5\" is no offset, a number from 0 to 9223372036854775807"},
        {"t,0,", "line 1, column 5: \"\" is no offset, a number from 0 to 9223372036854775807"},
        {"t,0", "line 1, column 1: 2 fields, where topic,partition,offset or "
                "group,topic,partition,offset belong, the same in every line"},
        {"t,0,5\ng,t,0,5", "line 2, column 1: 4 fields, where topic,partition,offset or "
                           "group,topic,partition,offset belong, the same in every line"},
        {"g,t,0,5,6", "line 1, column 9: more than 4 fields"},
        {"t,0,5\n\"t,0,5", "line 2, column 1: this quote is never closed"},
        {"\"g\nh\",t,0,5\nt,0", "line 3, column 1: 2 fields, where topic,partition,offset or "
                                "group,topic,partition,offset belong, the same in every line"},
        {"\"g\nh\",0,5", "line 1, column 1: \"g\\x0ah\" is not a valid topic name: use 1 to 249 "
                         "letters, digits, '.', '_' and '-', but not \".\" or \"..\""},
        {"\"g\nh\",t,0,x", "line 2, column 8: \"x\" is no offset, a number from 0 to "
                           "9223372036854775807"},
        {"\"t\"x,0,5", "line 1, column 4: only a comma may follow a closing quote"},
        {"t\"x,0,5", "line 1, column 2: a quote inside a field that does not begin with one"},
        {"t,0,5\rt,1,5", "line 1, column 7: a carriage return inside a line"},
        {"t,0,5\nt,0,6", "line 2, column 1: partition 0 of topic \"t\" in group \"default\" comes "
                         "a second time"},
        {",t,0,6", "line 1, column 1: the group has no name"},
        {"../t,0,6", "line 1, column 1: \"../t\" is not a valid topic name: use 1 to 249 "
                     "letters, digits, '.', '_' and '-', but not \".\" or \"..\""},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        ck_assert_str_eq(parsed(faults[i].text, NULL), faults[i].message);
    ck_assert_str_eq(parsed("other,t,0,6\nother,t,1,6\nmine,t,2,6", "mine"),
                     "line 3, column 1: group \"mine\" after group \"other\": both cannot become "
                     "group \"mine\"");
    ck_assert_str_eq(parsed("{\"topic\":\"t\",\"partition\":0,\"offset\":1}\n\n{\"topic\":1}", NULL),
                     "line 3: \"topic\" is missing or no string");
    krc_committed_list *list = krc_committed_new();
    ck_assert_int_eq(krc_committed_parse(list, "t,0\0,5", 6, NULL, &error), KRC_E_INVALID);
    ck_assert_str_eq(error.message, "line 1, column 4: a NUL byte");
    krc_committed_free(list);
}
END_TEST

static const char *entry_fault(const char *text)
{
    const char *message = parsed(text, NULL);
    const char *list = strstr(message, "/t/"); /* rows that came before the fault */
    ck_assert_ptr_null(list);
    return message;
}

START_TEST(json_is_read)
{
    ck_assert_str_eq(parsed("[]", NULL), "");
    ck_assert_str_eq(parsed(" [ {\"topic\":\"t\",\"partition\":0,\"offset\":5}, {\"group\":\"g \\u00fc"
                            "\",\"topic\":\"t\",\"partition\":1,\"offset\":9223372036854775807,"
                            "\"leaderEpoch\":3,\"metadata\":\"x\\\"y\"}]\n", NULL),
                     "default/t/0=5,-1,-;g \u00fc/t/1=9223372036854775807,3,x\"y;");
    ck_assert_str_eq(parsed("[{\"topic\":\"t\",\"partition\":0,\"offset\":5,\"leaderEpoch\":null}]",
                            "g"), "g/t/0=5,-1,-;");
    ck_assert_str_eq(parsed("\xef\xbb\xbf[{\"topic\":\"t\",\"partition\":0,\"offset\":5}]", "g"),
                     "g/t/0=5,-1,-;");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\",\"partition\":0,\"offset\":5,\"offset\":6}]"),
                     "entry 1: \"offset\" comes twice");
    ck_assert_str_eq(entry_fault("[{\"topic\":1}]"), "entry 1: \"topic\" is missing or no string");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"a\\u0000b\"}]"),
                     "a string of the JSON text holds \\u0000");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\",\"partition\":\"0\"}]"),
                     "entry 1: \"partition\" is missing or no number from 0 to 2147483647");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\",\"partition\":0,\"offset\":1e3}]"),
                     "entry 1: \"offset\" is missing or no number from 0 to 9223372036854775807");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\",\"partition\":0,\"offset\":"
                                 "9223372036854775808}]"),
                     "entry 1: \"offset\" is missing or no number from 0 to 9223372036854775807");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\",\"partition\":0,\"offset\":1,"
                                 "\"leaderEpoch\":-2}]"),
                     "entry 1: \"leaderEpoch\" is missing or no number from 0 to 2147483647");
    ck_assert_str_eq(entry_fault("[{\"topic\":\"t\""), "this is no JSON: malformed JSON");
    krc_committed_list *list = krc_committed_new();
    static const char mixed[] = "[{\"topic\":\"t\",\"partition\":0,\"offset\":1}, 7]";
    ck_assert_int_eq(krc_committed_parse(list, mixed, sizeof mixed - 1, NULL, &error),
                     KRC_E_INVALID);
    ck_assert_str_eq(error.message, "entry 2: no object");
    krc_committed_free(list);
}
END_TEST

static char *written(const krc_committed_list *list, int form)
{
    static char text[4096];
    FILE *out = fmemopen(text, sizeof text, "w");
    if (form == 2)
        krc_committed_write_json(list, out);
    else
        krc_committed_write_csv(list, form == 1, out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(fields_are_quoted_as_kafka_does)
{
    krc_committed_list *list = krc_committed_new();
    struct krc_committed rows[] = {
        {"a b", "t-1._x", 0, 4, 1, "m\n\"", 1, -1, {{0}}, false, -1, 0},
        {"c,\"d\"", "twenty-four-characters-x", 1, -1, 2, "", 1, -1, {{0}}, false, -1, 0},
        {"plain", "twenty-five-characters-xx", 2, -1, 3, NULL, 1, -1, {{0}}, false, -1, 0},
        {"plus+", "t", 3, -1, 4, NULL, 1, -1, {{0}}, false, -1, 0},
    };
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(krc_committed_add(list, &rows[i], &error), 0);
    ck_assert_int_eq(krc_committed_add(list, &rows[2], &error), 1);
    static const char csv[] = "\"a b\",t-1._x,0,1\n"
                              "\"c,\"\"d\"\"\",twenty-four-characters-x,1,2\n"
                              "plain,\"twenty-five-characters-xx\",2,3\n"
                              "\"plus+\",t,3,4\n"
                              "\n";
    ck_assert_str_eq(written(list, 1), csv);
    ck_assert_str_eq(written(list, 0), "t-1._x,0,1\ntwenty-four-characters-x,1,2\n"
                                       "\"twenty-five-characters-xx\",2,3\nt,3,4\n\n");
    static const char json[] =
        "[\n{\"group\":\"a b\",\"topic\":\"t-1._x\",\"partition\":0,\"offset\":1,\"leaderEpoch\":4,"
        "\"metadata\":\"m\\u000a\\\"\"},\n{\"group\":\"c,\\\"d\\\"\",\"topic\":"
        "\"twenty-four-characters-x\",\"partition\":1,\"offset\":2,\"leaderEpoch\":null,"
        "\"metadata\":\"\"}";
    ck_assert_int_eq(strncmp(written(list, 2), json, sizeof json - 1), 0);
    ck_assert_str_eq(parsed(written(list, 2), NULL),
                     "a b/t-1._x/0=1,4,m\n\";c,\"d\"/twenty-four-characters-x/1=2,-1,;"
                     "plain/twenty-five-characters-xx/2=3,-1,;plus+/t/3=4,-1,;");
    ck_assert_str_eq(parsed(csv, NULL),
                     "a b/t-1._x/0=1,-1,-;c,\"d\"/twenty-four-characters-x/1=2,-1,-;"
                     "plain/twenty-five-characters-xx/2=3,-1,-;plus+/t/3=4,-1,-;");
    const struct krc_committed *found = krc_committed_find(list, "plus+", "t", 3);
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(found->offset, 4);
    ck_assert_ptr_null(krc_committed_find(list, "plus+", "t", 4));
    krc_committed_free(list);
    krc_committed_free(NULL);
}
END_TEST

/* JSON is valid whatever is in a text, shows nothing that moves a cursor, and is read again. */
START_TEST(texts_of_others)
{
    krc_committed_list *list = krc_committed_new();
    struct krc_committed rows[] = {
        {"a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\xa1\xc3\xa9", "t", 0, -1, 1, "\xff\x1b", 1, -1,
         {{0}}, false, -1, 0},
        {"b\xff", "t", 0, -1, 2, "\xc3\xa9", 1, -1, {{0}}, false, -1, 0},
    };
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(krc_committed_add(list, &rows[i], &error), 0);
    ck_assert_str_eq(written(list, 2),
                     "[\n{\"group\":\"a\\u001b[2J\\u007f\\u009b\\u202e\\udb40\\udc61\xc3\xa9\","
                     "\"topic\":\"t\",\"partition\":0,\"offset\":1,\"leaderEpoch\":null,"
                     "\"metadataBase64\":\"/xs=\"},\n{\"groupBase64\":\"Yv8=\",\"topic\":\"t\","
                     "\"partition\":0,\"offset\":2,\"leaderEpoch\":null,\"metadata\":\"\xc3\xa9\"}"
                     "\n]\n");
    krc_committed_list *again = krc_committed_new();
    char *json = written(list, 2);
    ck_assert_msg(krc_committed_parse(again, json, strlen(json), NULL, &error) == 0, "%s",
                  error.message);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_str_eq(krc_committed_at(again, i)->group, rows[i].group);
        ck_assert_str_eq(krc_committed_at(again, i)->metadata, rows[i].metadata);
    }
    krc_committed_free(again);
    ck_assert_ptr_nonnull(strstr(written(list, 1), rows[0].group)); /* CSV has them as they are */
    krc_committed_free(list);
    static const char *const faults[] = {
        "[{\"groupBase64\":\"Yv8\",\"topic\":\"t\",\"partition\":0,\"offset\":1}]",
        "[{\"groupBase64\":\"YQBi\",\"topic\":\"t\",\"partition\":0,\"offset\":1}]",
        "[{\"groupBase64\":\"Yv8=\",\"group\":\"b\",\"topic\":\"t\",\"partition\":0,\"offset\":1}]"};
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(entry_fault(faults[i]), "entry 1: \"groupBase64\" is not base64, holds a "
                         "NUL byte, or stands beside the same as text");
}
END_TEST

START_TEST(csv_on_a_terminal)
{
    char seen[200] = "";
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(terminal, 0);
    ck_assert_int_eq(grantpt(terminal), 0);
    ck_assert_int_eq(unlockpt(terminal), 0);
    FILE *out = fopen(ptsname(terminal), "w");
    ck_assert_ptr_nonnull(out);
    krc_committed_list *list = krc_committed_new();
    struct krc_committed row = {"g\x1b[2J\nx", "t", 0, -1, 1, "", 1, -1, {{0}}, false, -1, 0};
    ck_assert_int_eq(krc_committed_add(list, &row, &error), 0);
    krc_committed_write_csv(list, true, out);
    ck_assert_int_eq(fflush(out), 0);
    ck_assert_int_gt(read(terminal, seen, sizeof seen - 1), 0);
    ck_assert_ptr_nonnull(strstr(seen, "g\\x1b[2J\\x0ax,t,0,1\r\n"));
    fclose(out);
    close(terminal);
    krc_committed_free(list);
}
END_TEST

static char *many_rows(bool json, int count)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    for (int i = count; i > 0; i--)
        fprintf(out, json ? "%s{\"topic\":\"t\",\"partition\":%d,\"offset\":%d}" : "%st,%d,%d\n",
                !json ? "" : i == count ? "[" : ",", i, i);
    fputs(json ? ",{\"topic\":\"t\",\"partition\":7,\"offset\":1}]" : "t,7,1\n", out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* The last row of all comes a second time. */
START_TEST(many_rows_are_moved_once)
{
    enum { COUNT = 50000 };
    static const char *const where[] = {"line 50001, column 1", "entry 50001"};
    char message[128];
    for (int json = 0; json < 2; json++) {
        char *text = many_rows(json, COUNT);
        krc_committed_list *list = krc_committed_new();
        moved = 0;
        ck_assert_int_eq(krc_committed_parse(list, text, strlen(text), "g", &error),
                         KRC_E_INVALID);
        snprintf(message, sizeof message, "%s: partition 7 of topic \"t\" in group \"g\" comes a "
                 "second time", where[json]);
        ck_assert_str_eq(error.message, message);
        for (int i = 1; i <= COUNT; i++)
            ck_assert_int_eq(krc_committed_at(list, (size_t)i - 1)->partition, i);
        ck_assert_ptr_null(krc_committed_at(list, COUNT));
        ck_assert_uint_le(moved, COUNT * sizeof(void *));
        krc_committed_free(list);
        free(text);
    }
}
END_TEST

static int note_reset(void *arg, const char *group, const char *topic, int32_t partition,
                      const struct krc_store_reset *reset)
{
    char *seen = arg;
    snprintf(seen + strlen(seen), 512 - strlen(seen), "%s/%s/%d h%d %lld>%lld at %lld %s;", group,
             topic, partition, reset->history, (long long)reset->from, (long long)reset->to,
             (long long)reset->time_ms, reset->reason);
    ck_assert_int_eq(reset->lost_from, reset->lost_to);
    return 0;
}

static void save(const char *store, const char *csv, const char *reason, int64_t now_ms)
{
    krc_committed_list *list = krc_committed_new();
    const struct krc_committed_place to = {.store = store, .reason = reason, .now_ms = now_ms};
    ck_assert_int_eq(krc_committed_parse(list, csv, strlen(csv), "g", &error), 0);
    ck_assert_int_eq(krc_committed_save(list, &to, &error), 0);
    krc_committed_free(list);
}

START_TEST(what_moves_leaves_a_reset)
{
    char folder[] = "/tmp/krc-committed-XXXXXX", path[64], seen[512] = "";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/krc.db", folder);
    struct krc_store *store;
    struct krc_stored stored = {
        .offset = 10, .leader_epoch = 4, .history = 2, .topic_id = {.bytes = {9}}, .settled = true,
        .commit_time_ms = 100, .metadata = "kept",
        .account = {.from = 0, .to = 10, .delivered = 10},
    };
    ck_assert_int_eq(krc_store_open(&store, path, KRC_STORE_CREATE, &error), 0);
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(krc_store_put(store, "g", "t", 0, &stored, &error), 0);
    ck_assert_int_eq(krc_store_put(store, "g", "t", 1, &stored, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
    krc_store_close(store);

    save(path, "t,0,10\nt,1,3\nt,2,7", "because", 500);
    ck_assert_int_eq(krc_store_open(&store, path, KRC_STORE_READ_ONLY, &error), 0);
    ck_assert_int_eq(krc_store_each_reset(store, "g", note_reset, seen, &error), 0);
    ck_assert_str_eq(seen, "g/t/1 h2 10>3 at 500 because;g/t/2 h1 -1>7 at 500 because;");

    ck_assert_int_eq(krc_store_load(store, "g", "t", 0, &stored, &error), 1); /* stood still */
    ck_assert(stored.settled);
    ck_assert_int_eq(stored.account.delivered, 10);
    ck_assert_int_eq(stored.commit_time_ms, 100);
    ck_assert_int_eq(stored.leader_epoch, 4);
    ck_assert_int_eq(krc_store_load(store, "g", "t", 1, &stored, &error), 1); /* moved */
    ck_assert(!stored.settled);
    ck_assert_int_eq(stored.offset, 3);
    ck_assert_int_eq(stored.history, 2);
    ck_assert_int_eq(stored.topic_id.bytes[0], 9);
    ck_assert_int_eq(stored.leader_epoch, -1);
    ck_assert_int_eq(stored.commit_time_ms, 500);
    ck_assert_int_eq(stored.account.from, 3);
    ck_assert_int_eq(stored.account.to, 3);
    ck_assert_int_eq(stored.account.delivered, 0);
    ck_assert_str_eq(stored.metadata, "kept");
    krc_store_close(store);

    krc_committed_list *list = krc_committed_new();
    ck_assert_int_eq(krc_committed_load(list, NULL, path, "g", NULL, &error), 0);
    ck_assert_int_eq(krc_committed_at(list, 2)->offset, 7);
    ck_assert_int_eq(krc_committed_at(list, 1)->history, 2);
    ck_assert_ptr_null(krc_committed_at(list, 3));
    krc_committed_free(list);
    unlink(path);
    rmdir(folder);
}
END_TEST

static krc_committed_list *list_of(const char *csv)
{
    krc_committed_list *list = krc_committed_new();
    ck_assert_int_eq(krc_committed_parse(list, csv, strlen(csv), "g", &error), 0);
    return list;
}

/* A plan that was made from offsets which are others by now. */
START_TEST(what_has_moved_meanwhile)
{
    static const struct {
        const char *before;
        int rc;
    } plans[] = {{"t,0,9", KRC_E_MISMATCH}, {"t,0,11", KRC_E_MISMATCH}, {"", KRC_E_MISMATCH},
                 {"t,0,10\nt,1,4", KRC_E_MISMATCH}, {"t,0,10", KRC_OK}};
    char folder[] = "/tmp/krc-committed-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/krc.db", folder);
    save(path, "t,0,10", "because", 500);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        krc_committed_list *plan = list_of("t,0,3\nt,1,5"), *before = list_of(plans[i].before);
        krc_committed_list *after = krc_committed_new();
        const struct krc_committed_place to = {.store = path, .reason = "again", .before = before};
        ck_assert_int_eq(krc_committed_save(plan, &to, &error), plans[i].rc);
        if (plans[i].rc < 0)
            ck_assert_ptr_nonnull(strstr(error.message, "another process commits for this group"));
        ck_assert_int_eq(krc_committed_load(after, NULL, path, "g", NULL, &error), 0);
        ck_assert_int_eq(krc_committed_at(after, 0)->offset, plans[i].rc < 0 ? 10 : 3);
        krc_committed_free(plan);
        krc_committed_free(before);
        krc_committed_free(after);
    }
    unlink(path);
    rmdir(folder);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        csv_is_read, many_rows_are_moved_once,
        csv_faults_are_placed,
        json_is_read,
        fields_are_quoted_as_kafka_does, texts_of_others, csv_on_a_terminal,
        what_moves_leaves_a_reset, what_has_moved_meanwhile,
    };
    return run_tests("committed", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
