/*
 * The properties: names, values, and what is said of wrong ones.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "consumer/config.h"
#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_config *config;
static krc_error error;

static void setup(void)
{
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
}

static void teardown(void)
{
    krc_config_free(config);
}

static int set(const char *name, const char *value)
{
    return krc_config_set(config, name, value, &error);
}

static void check_refused(const char *name, const char *value, const char *what)
{
    char *before = strdup(krc_config_get(config, name) ? krc_config_get(config, name) : "");
    ck_assert_msg(set(name, value) == KRC_E_INVALID, "%s=%s", name, value);
    check_says(error.message, what);
    const char *now = krc_config_get(config, name);
    ck_assert_str_eq(now ? now : "", before); /* what was set stays */
    free(before);
}

/* Every property has its default, is listed once, and can be set to it. */
START_TEST(all_properties)
{
    static const char *const list[][2] = {
        {"allow.auto.create.topics", "false"},
        {"auto.commit.interval.ms", "5000"},
        {"auto.offset.reset", "nearest"},
        {"bootstrap.servers", ""},
        {"buffered.max.bytes", "67108864"},
        {"client.dns.lookup", "use_all_dns_ips"},
        {"client.id", "krc"},
        {"client.rack", ""},
        {"commit.interval.bytes", "4194304"},
        {"commit.to.group", "false"},
        {"connections.max.idle.ms", "540000"},
        {"decompressed.batch.max.bytes", "268435456"},
        {"default.api.timeout.ms", "60000"},
        {"exclude.internal.topics", "true"},
        {"fetch.max.bytes", "1048576"},
        {"fetch.max.wait.ms", "500"},
        {"fetch.min.bytes", "1"},
        {"group.id", ""},
        {"group.instance.id", ""},
        {"group.protocol", "classic"},
        {"group.remote.assignor", ""},
        {"heartbeat.interval.ms", "3000"},
        {"isolation.level", "read_committed"},
        {"log.dirs", ""},
        {"log.format", "current"},
        {"max.partition.fetch.bytes", "1048576"},
        {"max.poll.interval.ms", "300000"},
        {"metadata.max.age.ms", "300000"},
        {"metadata.recovery.rebootstrap.trigger.ms", "300000"},
        {"metadata.recovery.strategy", "rebootstrap"},
        {"offset.store.file", ""},
        {"offset.store.moved.cluster", "false"},
        {"partition.assignment.strategy", "range,cooperative-sticky"},
        {"receive.buffer.bytes", "-1"},
        {"receive.message.max.bytes", "100000000"},
        {"reconnect.backoff.max.ms", "1000"},
        {"reconnect.backoff.ms", "50"},
        {"request.timeout.ms", "30000"},
        {"retry.backoff.max.ms", "1000"},
        {"retry.backoff.ms", "100"},
        {"sasl.jaas.config", ""},
        {"sasl.login.connect.timeout.ms", "10000"},
        {"sasl.login.read.timeout.ms", "10000"},
        {"sasl.mechanism", ""},
        {"sasl.oauthbearer.client.credentials.client.id", ""},
        {"sasl.oauthbearer.client.credentials.client.secret", ""},
        {"sasl.oauthbearer.header.urlencode", "false"},
        {"sasl.oauthbearer.scope", ""},
        {"sasl.oauthbearer.token.command", ""},
        {"sasl.oauthbearer.token.endpoint.url", ""},
        {"sasl.password", ""},
        {"sasl.username", ""},
        {"security.protocol", "PLAINTEXT"},
        {"send.buffer.bytes", "131072"},
        {"session.timeout.ms", "45000"},
        {"skip.corrupt.batches", "false"},
        {"socket.connection.setup.timeout.max.ms", "30000"},
        {"socket.connection.setup.timeout.ms", "10000"},
        {"ssl.cipher.suites", ""},
        {"ssl.enabled.protocols", "TLSv1.2,TLSv1.3"},
        {"ssl.endpoint.identification.algorithm", "https"},
        {"ssl.key.password", ""},
        {"ssl.keystore.certificate.chain", ""},
        {"ssl.keystore.key", ""},
        {"ssl.keystore.location", ""},
        {"ssl.keystore.password", ""},
        {"ssl.keystore.type", ""},
        {"ssl.protocol", "TLSv1.3"},
        {"ssl.truststore.certificates", ""},
        {"ssl.truststore.location", ""},
        {"ssl.truststore.password", ""},
        {"ssl.truststore.type", ""},
    };
    struct krc_property p;
    size_t n = 0;
    for (; krc_config_property(n, &p); n++) {
        ck_assert_uint_lt(n, sizeof list / sizeof *list);
        ck_assert_str_eq(p.name, list[n][0]);
        ck_assert_str_eq(p.default_value, list[n][1]);
        ck_assert(p.type[0] != '\0' && p.meaning[0] != '\0');
        const char *value = krc_config_get(config, p.name);
        ck_assert_str_eq(value ? value : "", p.default_value);
        ck_assert_int_eq(set(p.name, p.default_value), KRC_OK);
    }
    ck_assert_uint_eq(n, sizeof list / sizeof *list);
    ck_assert_ptr_null(krc_config_get(config, "no.such.property"));
}
END_TEST

START_TEST(values_that_are_taken)
{
    static const char *const good[][2] = {
        {"auto.offset.reset", "earliest"},
        {"auto.offset.reset", "latest"},
        {"auto.offset.reset", "none"},
        {"auto.offset.reset", "error"},
        {"auto.offset.reset", "nearest"},
        {"auto.offset.reset", "by_duration:P1DT2H3M4.5S"},
        {"commit.interval.bytes", "1"},
        {"commit.interval.bytes", "9223372036854775807"},
        {"decompressed.batch.max.bytes", "2147483647"},
        {"group.id", "billing"},
        {"isolation.level", "read_uncommitted"},
        {"isolation.level", "read_committed"},
        {"log.format", "0.7"},
        {"log.format", "current"},
        {"offset.store.file", "/tmp/krc.db"},
        {"receive.message.max.bytes", "1024"},
        {"skip.corrupt.batches", "true"},
        {"skip.corrupt.batches", "false"},
        {"sasl.mechanism", "SCRAM-SHA-512"},
        {"sasl.oauthbearer.token.endpoint.url", "file:///t"},
        {"security.protocol", "sasl_Plaintext"},
        {"ssl.enabled.protocols", "TLSv1.2,TLSv1.1,TLSv1"},
        {"ssl.endpoint.identification.algorithm", "HTTPS"},
        {"ssl.keystore.type", "pkcs12"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(set(good[i][0], good[i][1]) == KRC_OK, "%s", error.message);
        ck_assert_str_eq(krc_config_get(config, good[i][0]), good[i][1]);
    }
}
END_TEST

START_TEST(values_that_are_refused)
{
    static const struct {
        const char *name, *value, *what;
    } bad[] = {
        {"auto.offset.reset", "soonest", "auto.offset.reset cannot be \"soonest\": it is one of: "
                                         "nearest, earliest, latest, none, error, by_duration"},
        {"auto.offset.reset", "", "cannot be \"\""},
        {"auto.offset.reset", "by_duration:", "an ISO 8601 duration such as PT1H"},
        {"auto.offset.reset", "by_duration:1h", "an ISO 8601 duration such as PT1H"},
        {"commit.interval.bytes", "0", "a number of bytes from 1 to 9223372036854775807"},
        {"commit.interval.bytes", "4MiB", "a number of bytes"},
        {"commit.interval.bytes", "9223372036854775808", "a number of bytes"},
        {"decompressed.batch.max.bytes", "2147483648", "from 1 to 2147483647"},
        {"isolation.level", "READ_COMMITTED", "read_committed, read_uncommitted"},
        {"isolation.level", "read", "read_committed, read_uncommitted"},
        {"isolation.level", "", "read_committed, read_uncommitted"},
        {"log.format", "0.8", "current, 0.7"},
        {"receive.message.max.bytes", "1023", "from 1024 to 2147483647"},
        {"receive.message.max.bytes", "-1", "from 1024"},
        {"receive.message.max.bytes", "", "from 1024"},
        {"skip.corrupt.batches", "yes", "false, true"},
        {"security.protocol", "TLS", "security.protocol cannot be \"TLS\": it is one of: "
                                     "PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"},
        {"sasl.oauthbearer.token.endpoint.url", "ftp://auth/token", "file:///PATH, https://HOST/"},
        {"sasl.oauthbearer.header.urlencode", "yes", "false, true"},
        {"sasl.login.read.timeout.ms", "0", "from 1 to 1073741823"},
        {"sasl.mechanism", "plain", "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"},
        {"ssl.enabled.protocols", "TLSv1.1,TLSv1", "it is one of: TLSv1.2, TLSv1.3"},
        {"ssl.endpoint.identification.algorithm", "none", "it is one of: https, or nothing"},
        {"ssl.truststore.type", "BKS", "PEM, PKCS12, JKS"},
        {"ssl.protocol", "TLSv1.1", "TLSv1.3, TLSv1.2, TLS"},
        {"fetch.max.wait.ms", "-1", "a number of milliseconds from 0 to 2147483647"},
        {"fetch.max.wait.ms", "0.5s", "a number of milliseconds"},
        {"fetch.max.bytes", "2147483648", "a number of bytes from 0 to 2147483647"},
        {"buffered.max.bytes", "0", "a number of bytes from 1"},
        {"metadata.max.age.ms", "-1", "a number of milliseconds from 0 to 9223372036854775807"},
        {"receive.buffer.bytes", "-2", "a number of bytes from -1"},
        {"client.dns.lookup", "default", "use_all_dns_ips, resolve_canonical_bootstrap_servers_o"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i].name, bad[i].value, bad[i].what);
}
END_TEST

START_TEST(the_nearest_name)
{
    static const char *const names[][2] = {
        {"isolation.levle", "isolation.level"},
        {"log.dir", "log.dirs"},
        {"auto.reset.offset", "auto.offset.reset"},
        {"group", "group.id"},
        {"skip.corupt.batch", "skip.corrupt.batches"},
        {"", "allow.auto.create.topics"},
        {"fetch.wait.max.ms", "fetch.max.wait.ms"},
        {"group.instance", "group.instance.id"},
        {"key.deserialiser", "key.deserializer"},
        {"linger", "linger.ms"},
        {"sasl.mechanisms", "sasl.mechanism"},
        {"ssl.truststore.loc", "ssl.truststore.location"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char what[128];
        snprintf(what, sizeof what, "there is no property \"%s\"; the nearest is %s", names[i][0],
                 names[i][1]);
        ck_assert_int_eq(set(names[i][0], "1"), KRC_E_INVALID);
        check_says(error.message, what);
    }
    char long_name[4096];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    ck_assert_int_eq(set(long_name, "1"), KRC_E_INVALID);
    ck_assert_int_eq(set("Group.id", "1"), KRC_E_INVALID);
    check_says(error.message, "this is no name of a property");
    ck_assert_int_eq(krc_config_set(config, "no.such", "1", NULL), KRC_E_INVALID);
}
END_TEST

START_TEST(names_of_kafkas_that_do_not_apply)
{
    static const struct {
        const char *name;
        int code;
        const char *what;
    } names[] = {
        {"check.crcs", KRC_E_INVALID, "check.crcs is a property of Kafka's clients that does not "
                                      "apply to krc: checksums are always checked"},
        {"key.deserializer", KRC_E_INVALID, "does not apply to krc: keys and values are handed on"},
        {"acks", KRC_E_INVALID, "does not apply to krc: it is for producers"},
        {"value.serializer", KRC_E_INVALID, "it is for producers"},
        {"max.poll.records", KRC_E_INVALID, "batches are handed on as they are stored"},
        {"share.acquire.mode", KRC_E_INVALID, "joins no share groups"},
        {"metrics.context.cluster", KRC_E_INVALID, "krc keeps no metrics"},
        {"schema.registry.url", KRC_E_INVALID, "handed on as bytes"},
        {"ssl.provider", KRC_E_INVALID, "it is about Java's TLS"},
        {"sasl.login.class", KRC_E_INVALID, "it names Java classes"},
        {"sasl.login.refresh.buffer.seconds", KRC_E_INVALID, "a token is read anew"},
        {"sasl.kerberos.service.name", KRC_E_INVALID, "krc has no GSSAPI"},
        {"sasl.oauthbearer.jwks.endpoint.url", KRC_E_INVALID, "tokens are checked by brokers"},
        {"ssl.engine.factory.class", KRC_E_UNSUPPORTED,
         "ssl.engine.factory.class is not supported: it names a Java class"},
        {"sasl.oauthbearer.assertion.file", KRC_E_UNSUPPORTED,
         "with a client's secret only; sasl.oauthbearer.token.command can do more"},
        {"ssl.ca.location", KRC_E_UNSUPPORTED, "ssl.truststore.location is the same"},
        {"ssl.key.location", KRC_E_UNSUPPORTED, "ssl.keystore.location is one file with"},
        {"config.providers", KRC_E_UNSUPPORTED, "values are taken as they stand"},
        {"config.providers.env.class", KRC_E_UNSUPPORTED, "values are taken as they stand"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(set(names[i].name, "1"), names[i].code);
        check_says(error.message, names[i].what);
        ck_assert_ptr_null(krc_config_get(config, names[i].name));
    }
}
END_TEST

START_TEST(what_this_build_cannot_do)
{
    static const char *const values[][3] = {
        {"sasl.mechanism", "GSSAPI",
         "sasl.mechanism \"GSSAPI\" is not supported: it takes a Kerberos"},
        {"sasl.mechanism", "AWS_MSK_IAM", "\"AWS_MSK_IAM\" is not supported: it is Amazon's own"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ck_assert_int_eq(set(values[i][0], values[i][1]), KRC_E_UNSUPPORTED);
        check_says(error.message, values[i][2]);
        ck_assert_ptr_null(krc_config_get(config, values[i][0]));
    }
}
END_TEST

static char servers[256];

static int tell_server(void *arg, const char *host, uint16_t port)
{
    size_t len = strlen(servers);
    snprintf(servers + len, sizeof servers - len, "(%s %d)", host, port);
    return port == 7 ? *(const int *)arg : 0;
}

START_TEST(lists_of_brokers)
{
    static const char *const good[][2] = {
        {"", ""},
        {"localhost:9092", "(localhost 9092)"},
        {"a:1,b.example.:65535", "(a 1)(b.example. 65535)"},
        {" a:1 , b:2,\n", "(a 1)(b 2)"},
        {"10.0.0.1:9092", "(10.0.0.1 9092)"},
        {"[::1]:9092", "(::1 9092)"},
        {"[fe80::1%eth0]:9092,[::ffff:10.0.0.1]:1", "(fe80::1%eth0 9092)(::ffff:10.0.0.1 1)"},
    };
    static const char *const bad[][2] = {
        {"localhost", "\"localhost\" has no port"},
        {"a:1,b,c:2", "\"b\" has no port"},
        {"a:0", "\"a:0\" has no port from 1 to 65535"},
        {"a:65536", "from 1 to 65535"},
        {"a:", "from 1 to 65535"},
        {"a:9O92", "from 1 to 65535"},
        {"a:000009092", "from 1 to 65535"},
        {"a:-1", "from 1 to 65535"},
        {":9092", "\":9092\" has no host"},
        {"[]:9092", "\"[]:9092\" has no host"},
        {"[::1:9092", "\"[::1:9092\" has no address in its brackets"},
        {"[::1,::2]:9092", "\"[::1\" has no address in its brackets"},
        {"[::1]", "\"[::1]\" has no port"},
        {"[::1]9092", "\"[::1]9092\" is not HOST:PORT"},
        {"::1:9092", "\"::1:9092\" needs brackets around the address: [::1]:9092"},
        {"fe80::1:9092", "needs brackets"},
        {"http://a:9092", "from 1 to 65535"},
        {"a/b:9092", "\"a/b:9092\" is not HOST:PORT"},
        {",", "\",\" names no broker"},
        {"  ", "names no broker"},
    };
    int end = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        servers[0] = '\0';
        ck_assert_msg(set("bootstrap.servers", good[i][0]) == KRC_OK, "%s", error.message);
        ck_assert_int_eq(krc_parse_servers(good[i][0], tell_server, &end, &error), 0);
        ck_assert_str_eq(servers, good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused("bootstrap.servers", bad[i][0], bad[i][1]);
    end = 5;
    servers[0] = '\0';
    ck_assert_int_eq(krc_parse_servers("a:1,b:7,c:1", tell_server, &end, &error), 5);
    ck_assert_str_eq(servers, "(a 1)(b 7)");
    char longest[300];
    memset(longest, 'a', sizeof longest);
    memcpy(longest + 255, ":1", 3);
    ck_assert_int_eq(set("bootstrap.servers", longest), KRC_OK);
    memcpy(longest + 255, "a:1", 4);
    check_refused("bootstrap.servers", longest, "has a longer host than there can be");
}
END_TEST

/* What Kafka's clients take, up to Long.MAX_VALUE; a clock's time can still be added to it. */
START_TEST(times)
{
    ck_assert_int_eq(set("connections.max.idle.ms", "-1"), KRC_OK);
    ck_assert_int_eq(config->idle_close_ms, -1);
    ck_assert_int_eq(set("connections.max.idle.ms", "9223372036854775807"), KRC_OK);
    ck_assert_int_eq(config->idle_close_ms, KRC_LONGEST_MS);
    ck_assert_str_eq(krc_config_get(config, "connections.max.idle.ms"), "9223372036854775807");
    ck_assert_int_eq(set("request.timeout.ms", "0"), KRC_OK);
    ck_assert_int_eq(config->request_timeout_ms, 0);
}
END_TEST

START_TEST(texts_that_no_request_can_carry)
{
    static char text[INT16_MAX + 2];
    memset(text, 'x', INT16_MAX);
    ck_assert_int_eq(set("client.id", text), KRC_OK);
    text[INT16_MAX] = 'x';
    check_refused("client.id", text, "client.id cannot be longer than 32767 bytes");
    check_refused("client.rack", text, "client.rack cannot be longer than 32767 bytes");
}
END_TEST

START_TEST(durations)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"PT1H", 3600000},          {"P1D", 86400000}, {"P2W", 1209600000},
                {"PT0.25S", 250},           {"PT90M", 5400000}, {"PT0S", 0},
                {"P1DT2H3M4.5S", 93784500}};
    static const char *const bad[] = {"",     "P",    "PT",    "1H",    "PT1",    "PT1X", "P1H",
                                      "P1DT", "PTH",  "PT-1H", "PT1HP", "P1M",    "P1Y",  "pt1h",
                                      "PT1H ", "PT 1H", "PT1e99S", "PTnanS", "PTinfS",
                                      "P1e5D", "P0x1D", "PT0x1S", "PT.5S", "PT1.2.3S", "PT1..S"};
    int64_t ms;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(krc_parse_duration(good[i].text, &ms), "%s", good[i].text);
        ck_assert_int_eq(ms, good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!krc_parse_duration(bad[i], &ms), "%s", bad[i]);
}
END_TEST

START_TEST(log_dirs)
{
    ck_assert_int_eq(set("log.dirs", "/a,/b,,/c,"), KRC_OK);
    ck_assert_uint_eq(config->log_dir_count, 3);
    ck_assert_str_eq(config->log_dirs[0], "/a");
    ck_assert_str_eq(config->log_dirs[2], "/c");
    ck_assert_int_eq(set("log.dirs", "/d"), KRC_OK); /* in their stead */
    ck_assert_uint_eq(config->log_dir_count, 1);
    ck_assert_int_eq(krc_config_add_log_dir(config, "", &error), KRC_E_INVALID);
    check_says(error.message, "path is empty");
}
END_TEST

START_TEST(a_path_with_a_comma)
{
    krc *handle;
    tempdir_make();
    tempdir_mkdir("a,b");
    tempdir_mkdir("a,b/t-0");
    make_plain(0, 5);
    tempdir_write("a,b/t-0/00000000000000000000.log", make_bytes.data, make_bytes.len);
    krc_buffer_free(&make_bytes);
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("a,b"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_OK);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "0-4");
    krc_close(handle);
    tempdir_remove();
}
END_TEST

/* The handle has its own copy. */
START_TEST(a_copy)
{
    ck_assert_int_eq(set("log.dirs", "/a"), KRC_OK);
    ck_assert_int_eq(krc_config_add_log_dir(config, "/b,c", &error), KRC_OK);
    ck_assert_int_eq(set("group.id", "billing"), KRC_OK);
    ck_assert_int_eq(set("auto.offset.reset", "by_duration:PT1H"), KRC_OK);
    krc_config *copy = krc_config_copy(config);
    ck_assert_int_eq(set("group.id", "other"), KRC_OK);
    ck_assert_uint_eq(copy->log_dir_count, 2);
    ck_assert_str_eq(copy->log_dirs[1], "/b,c");
    ck_assert_str_eq(copy->group_id, "billing");
    ck_assert_int_eq(copy->reset_policy, KRC_RESET_BY_DURATION);
    ck_assert_int_eq(copy->reset_duration_ms, 3600000);
    krc_config_free(copy);
    krc_config_free(NULL);
}
END_TEST

/* ---- Properties files ---------------------------------------------------------------------- */

/* Texts, and what java.util.Properties of OpenJDK 17 makes of them, values trimmed. */
START_TEST(as_java_reads_them)
{
    static const char *const texts[][2] = {
        {"Truth = Beauty", "Truth|Beauty;"},
        {" Truth:Beauty", "Truth|Beauty;"},
        {"Truth                    :Beauty", "Truth|Beauty;"},
        {"fruits    apple, banana, \\\n   pear, \\\r\n   \tmango\n",
         "fruits|apple, banana, pear, mango;"},
        {"cheeses", "cheeses|;"},
        {"# no=1\n  ! no=2\n\n\t\f\r\ra=1\\\n#2", "a|1#2;"},
        {"a=1\\\n\nb=2", "a|1;b|2;"},
        {"a=1\\\\\nb=2\\\\\\\n3", "a|1\\;b|2\\3;"},
        {"\\\n\\\r\n#no\na b c", "a|b c;"},
        {"#no\\\na=1", "a|1;"},
        {"a\\ b\\=\\:c=d\\ne\\tf\\q\\\"", "a b=:c|d\ne\tfq\";"},
        {"a==b: c", "a|=b: c;"},
        {"a : = b", "a|= b;"},
        {"= b\n:c\n", "|b;|c;"},
        {"a = \\  b \\ ", "a|b;"},
        {"a=\\u0041\\u00e9\\u20ac\\uD83D\\ude00", "a|A\u00e9\u20ac\U0001f600;"},
        {"\\u0061\\u003db=\u00e9", "a=b|\u00e9;"},
        {"a=1\na=2\rb", "a|1;a|2;b|;"},
        {"", ""},
        {"\n#", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *text = strdup(texts[i][0]), found[256] = "";
        struct krc_properties p = krc_properties(text);
        const char *name, *value;
        while (krc_properties_next(&p, &name, &value, &error) == 1)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s|%s;", name, value);
        ck_assert_str_eq(found, texts[i][1]);
        free(text);
    }
}
END_TEST

static char ignored[256];

static void note_ignored(void *arg, const char *name)
{
    ck_assert_ptr_eq(arg, ignored);
    strcat(strcat(ignored, name), ";");
}

static int load(const char *text)
{
    ignored[0] = '\0';
    tempdir_make();
    tempdir_write_text("client.properties", text);
    int rc = krc_config_load(config, tempdir_path("client.properties"), note_ignored, ignored,
                             &error);
    tempdir_remove();
    return rc;
}

static void check_is(const char *name, const char *value)
{
    const char *now = krc_config_get(config, name);
    ck_assert_str_eq(now == NULL ? "" : now, value);
}

/* A file says less than a call, whichever comes first, and a later file more than an earlier. */
START_TEST(a_file_and_calls)
{
    ck_assert_int_eq(set("client.id", "said"), KRC_OK);
    ck_assert_int_eq(load("client.id=file\ngroup.id=file\nlog.dirs=/a,/b\nacks=all\n"
                          "fetch.min.bytes=7\nmetrics.context.x=y\nclient.rack=file"), KRC_OK);
    ck_assert_str_eq(ignored, "acks;metrics.context.x;");
    check_is("client.id", "said");
    check_is("group.id", "file");
    check_is("fetch.min.bytes", "7");
    ck_assert_int_eq(config->fetch_min_bytes, 7);
    ck_assert_uint_eq(config->log_dir_count, 2);
    ck_assert_int_eq(set("group.id", "said"), KRC_OK);
    ck_assert_int_eq(krc_config_add_log_dir(config, "/c", &error), KRC_OK);
    ck_assert_int_eq(load("group.id=file2\nfetch.min.bytes=8\nlog.dirs=/d\n"), KRC_OK);
    check_is("group.id", "said");
    check_is("fetch.min.bytes", "8");
    check_is("client.rack", "file");
    check_is("log.dirs", "");
    ck_assert_uint_eq(config->log_dir_count, 1);
    ck_assert_str_eq(config->log_dirs[0], "/c");
}
END_TEST

/* As some editors put it before a text. */
START_TEST(a_byte_order_mark)
{
    ck_assert_int_eq(load("\xef\xbb\xbfgroup.id=g\nclient.id=c\n"), KRC_OK);
    check_is("group.id", "g");
    check_is("client.id", "c");
    ck_assert_int_eq(load("\xef\xbb\xbf"), KRC_OK);
}
END_TEST

/* The line is the one a property begins on; nothing of the file is taken. */
START_TEST(files_that_are_refused)
{
    static const struct {
        const char *text;
        int code;
        const char *what;
    } bad[] = {
        {"group.id=g\n\n#\ngroup.idd=x", KRC_E_INVALID,
         "/client.properties, line 4: there is no property \"group.idd\"; the nearest is group.id"},
        {"group.id=g\nisolation.level = \\\n  read\n", KRC_E_INVALID,
         "/client.properties, line 2: isolation.level cannot be \"read\""},
        {"group.id=g\rbootstrap.servers=a:1,\\\n b\r\n", KRC_E_INVALID,
         "line 2: bootstrap.servers: \"b\" has no port"},
        {"group.id=g\nsasl.mechanism=GSSAPI", KRC_E_UNSUPPORTED, "line 2: sasl.mechanism \"GSSAPI\""},
        {"security.protocol=TLS", KRC_E_INVALID, "line 1: security.protocol cannot be \"TLS\""},
        {"=", KRC_E_INVALID, "line 1: there is no property \"\""},
        {"group.id=\\u12", KRC_E_INVALID, "line 1: a \\u needs four hexadecimal digits"},
        {"group.id=\\u+123", KRC_E_INVALID, "line 1: a \\u needs four hexadecimal digits"},
        {"group.id=\\ud83d", KRC_E_INVALID, "a \\u needs"},
        {"group.id=\\ude00\\ud83d", KRC_E_INVALID, "a \\u needs"},
        {"group.id=\\u0000", KRC_E_INVALID, "a \\u needs"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(load(bad[i].text), bad[i].code);
        check_says(error.message, bad[i].what);
        check_is("group.id", "");
    }
}
END_TEST

START_TEST(files_that_are_none)
{
    static char large[(1 << 20) + 2];
    tempdir_make();
    const char *path = tempdir_path("no");
    ck_assert_int_eq(krc_config_load(config, path, NULL, NULL, &error), KRC_E_NOT_FOUND);
    check_says(error.message, path);
    ck_assert_int_eq(krc_config_load(config, tempdir_path("."), NULL, NULL, &error), KRC_E_IO);
    tempdir_write("nul", "group.id=a\0b", 12);
    ck_assert_int_eq(krc_config_load(config, tempdir_path("nul"), NULL, NULL, &error),
                     KRC_E_INVALID);
    check_says(error.message, "/nul holds a NUL byte");
    memset(large, '\n', sizeof large);
    tempdir_write("large", large, sizeof large - 1);
    ck_assert_int_eq(krc_config_load(config, tempdir_path("large"), NULL, NULL, &error),
                     KRC_E_TOO_LARGE);
    tempdir_write("full", large, sizeof large - 2);
    ck_assert_int_eq(krc_config_load(config, tempdir_path("full"), NULL, NULL, &error), KRC_OK);
    tempdir_write_text("ignored", "acks=all");
    ck_assert_int_eq(krc_config_load(config, tempdir_path("ignored"), NULL, NULL, &error), KRC_OK);
    tempdir_remove();
}
END_TEST

/* sasl.login. begins foreign names, and some of krc's own. */
START_TEST(own_names_are_not_foreign)
{
    struct krc_property property;
    for (size_t i = 0; krc_config_property(i, &property); i++)
        ck_assert_msg(krc_find_foreign(property.name) == NULL, "%s", property.name);
    ck_assert_ptr_nonnull(krc_find_foreign("sasl.login.refresh.buffer.seconds"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        all_properties, values_that_are_taken, values_that_are_refused, the_nearest_name,
        names_of_kafkas_that_do_not_apply, what_this_build_cannot_do, lists_of_brokers, times,
        texts_that_no_request_can_carry, durations, log_dirs, a_path_with_a_comma, a_copy,
        as_java_reads_them, a_file_and_calls, a_byte_order_mark,
        files_that_are_refused, files_that_are_none,
        own_names_are_not_foreign,
    };
    return run_tests("consumer/config", tests, sizeof tests / sizeof *tests, setup, teardown);
}
