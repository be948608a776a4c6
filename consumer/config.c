#include "consumer/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ----------------------------------------------------------------------------- */

typedef int parse_fn(krc_config *config, size_t property, const char *value, krc_error *error);

static parse_fn parse_log_dirs, parse_servers, parse_text, parse_choice, parse_number, parse_ms,
    parse_reset;

enum { WIRE_TEXT = INT16_MAX }; /* what a request can carry */

static const struct property {
    struct krc_property is;
    parse_fn *parse;
    size_t field;         /* offset in krc_config */
    int64_t least, most;  /* parse_number, parse_ms; parse_text: most bytes, 0 for any number */
    const char *choices;  /* parse_choice: in the order of their values, a blank between */
} properties[] = {
#define FIELD(name) offsetof(krc_config, name)
    {{"allow.auto.create.topics", "false, true", "false",
      "true: a topic that is asked for and is not there may be made by the broker (Kafka's "
      "default); krc reads, and a misspelt name must not make a topic"},
     parse_choice, FIELD(auto_create_topics), 0, 0, "false true"},
    {{"auto.commit.interval.ms", "milliseconds", "5000",
      "how often krc read --store commits while it follows a cluster"},
     parse_ms, FIELD(commit_interval_ms), 0, INT32_MAX, NULL},
    {{"auto.offset.reset", "nearest, earliest, latest, none, error, by_duration:DURATION",
      "nearest",
      "where to go on when the committed offset is not in the log, or there is none: nearest is "
      "the log start for an offset below it, and for one beyond the end the place where the "
      "histories diverge; none (also error) stops"},
     parse_reset, FIELD(reset_policy), 0, 0, NULL},
    {{"bootstrap.servers", "HOST:PORT, a comma between", "",
      "brokers of a cluster to begin with; an IPv6 address goes in brackets"},
     parse_servers, FIELD(bootstrap_servers), 0, 0, NULL},
    {{"buffered.max.bytes", "bytes", "67108864",
      "responses that are received and not released yet; beyond it nothing more is fetched until "
      "batches are released"},
     parse_number, FIELD(buffered_max_bytes), 1, INT64_MAX, NULL},
    {{"client.dns.lookup", "use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
      "use_all_dns_ips",
      "use_all_dns_ips tries each address that a name has; "
      "resolve_canonical_bootstrap_servers_only first puts the canonical names of its addresses in "
      "a bootstrap server's place"},
     parse_choice, FIELD(dns_lookup), 0, 0,
     "use_all_dns_ips resolve_canonical_bootstrap_servers_only"},
    {{"client.id", "text", "krc", "the name that brokers log, count and set quotas by"},
     parse_text, FIELD(client_id), 0, WIRE_TEXT, NULL},
    {{"client.rack", "text", "",
      "where this client is, as in the brokers' broker.rack: replicas there are read from, if the "
      "brokers select so"},
     parse_text, FIELD(client_rack), 0, WIRE_TEXT, NULL},
    {{"commit.interval.bytes", "bytes", "4194304",
      "replay commits at the end of the batch with which so much output has come together"},
     parse_number, FIELD(commit_interval_bytes), 1, INT64_MAX, NULL},
    {{"connections.max.idle.ms", "milliseconds", "540000",
      "a connection that is not used for so long is closed; -1: never"},
     parse_ms, FIELD(idle_close_ms), -1, INT64_MAX, NULL},
    {{"decompressed.batch.max.bytes", "bytes", "268435456",
      "a batch that decompresses to more is an error, and the position holds in front of it"},
     parse_number, FIELD(max_decompressed_bytes), 1, INT32_MAX, NULL},
    {{"default.api.timeout.ms", "milliseconds", "60000",
      "how long a call that has to ask the cluster may take, retries included"},
     parse_ms, FIELD(api_timeout_ms), 0, INT32_MAX, NULL},
    {{"exclude.internal.topics", "false, true", "true",
      "internal topics (__consumer_offsets and such) are only read where they are named in full; "
      "false: by a pattern, too"},
     parse_choice, FIELD(exclude_internal_topics), 0, 0, "false true"},
    {{"fetch.max.bytes", "bytes", "1048576",
      "how much one response may hold (Kafka's default is 50 MiB); a batch that is larger comes "
      "all the same"},
     parse_number, FIELD(fetch_max_bytes), 0, INT32_MAX, NULL},
    {{"fetch.max.wait.ms", "milliseconds", "500",
      "how long a broker waits for fetch.min.bytes before it answers; up to eight times as long "
      "where 250 partitions and more had nothing, and as short as this for what is asked anew"},
     parse_ms, FIELD(fetch_max_wait_ms), 0, INT32_MAX, NULL},
    {{"fetch.min.bytes", "bytes", "1",
      "a broker answers when it has so much, or at fetch.max.wait.ms"},
     parse_number, FIELD(fetch_min_bytes), 0, INT32_MAX, NULL},
    {{"group.id", "text", "",
      "whose committed offsets; the rows of an offset store are named by it, \"default\" where it "
      "is empty"},
     parse_text, FIELD(group_id), 0, WIRE_TEXT, NULL},
    {{"isolation.level", "read_committed, read_uncommitted", "read_committed",
      "read_committed leaves out aborted transactions and ends at the last stable offset"},
     parse_choice, FIELD(read_uncommitted), 0, 0, "read_committed read_uncommitted"},
    {{"log.dirs", "paths, a comma between", "",
      "data folders to read: a broker's, one TOPIC-PARTITION folder, or one .log file"},
     parse_log_dirs, 0, 0, 0, NULL},
    {{"log.format", "current, 0.7", "current",
      "0.7: the folders hold Kafka 0.7 logs, which do not say so themselves"},
     parse_choice, FIELD(format_07), 0, 0, "current 0.7"},
    {{"max.partition.fetch.bytes", "bytes", "1048576",
      "how much one response may hold of one partition; a batch that is larger comes all the same"},
     parse_number, FIELD(partition_max_bytes), 0, INT32_MAX, NULL},
    {{"metadata.max.age.ms", "milliseconds", "300000",
      "metadata is asked for anew after so long, without need: new partitions are found by it"},
     parse_ms, FIELD(metadata_max_age_ms), 0, INT64_MAX, NULL},
    {{"metadata.recovery.rebootstrap.trigger.ms", "milliseconds", "300000",
      "when no broker has answered a question for metadata for so long, bootstrap.servers are "
      "tried again"},
     parse_ms, FIELD(rebootstrap_trigger_ms), 0, INT64_MAX, NULL},
    {{"metadata.recovery.strategy", "none, rebootstrap", "rebootstrap",
      "rebootstrap goes back to bootstrap.servers where no known broker can be reached; none goes "
      "on trying the known ones"},
     parse_choice, FIELD(rebootstrap), 0, 0, "none rebootstrap"},
    {{"offset.store.file", "path", "", "the SQLite file that keeps committed offsets"},
     parse_text, FIELD(store_file), 0, 0, NULL},
    {{"receive.buffer.bytes", "bytes", "-1",
      "SO_RCVBUF; -1: the system's choice, which grows with the connection, while a number given "
      "is a limit (Kafka's default is 65536)"},
     parse_number, FIELD(receive_buffer_bytes), -1, INT32_MAX, NULL},
    {{"receive.message.max.bytes", "bytes", "100000000",
      "a batch that is larger as stored is an error, and the position holds in front of it"},
     parse_number, FIELD(max_message_bytes), 1024, INT32_MAX, NULL},
    {{"reconnect.backoff.max.ms", "milliseconds", "1000",
      "the longest wait before another connection to a broker that refuses them"},
     parse_ms, FIELD(reconnect_backoff_max_ms), 0, INT64_MAX, NULL},
    {{"reconnect.backoff.ms", "milliseconds", "50", "the first wait; each refusal doubles it"},
     parse_ms, FIELD(reconnect_backoff_ms), 0, INT64_MAX, NULL},
    {{"request.timeout.ms", "milliseconds", "30000",
      "a request that is not answered for so long fails, and its connection is closed"},
     parse_ms, FIELD(request_timeout_ms), 0, INT32_MAX, NULL},
    {{"retry.backoff.max.ms", "milliseconds", "1000",
      "the longest wait before a failed request is tried again"},
     parse_ms, FIELD(retry_backoff_max_ms), 0, INT64_MAX, NULL},
    {{"retry.backoff.ms", "milliseconds", "100", "the first wait; each failure doubles it"},
     parse_ms, FIELD(retry_backoff_ms), 0, INT64_MAX, NULL},
    {{"security.protocol", "PLAINTEXT (neither TLS nor SASL in this build yet)", "PLAINTEXT",
      "how brokers are spoken to"},
     parse_choice, FIELD(security_protocol), 0, 0, "PLAINTEXT"},
    {{"send.buffer.bytes", "bytes", "131072", "SO_SNDBUF; -1: the system's choice"},
     parse_number, FIELD(send_buffer_bytes), -1, INT32_MAX, NULL},
    {{"skip.corrupt.batches", "false, true", "false",
      "true: go past a batch that fails its checks, and count its offsets as skipped"},
     parse_choice, FIELD(skip_corrupt), 0, 0, "false true"},
    {{"socket.connection.setup.timeout.max.ms", "milliseconds", "30000",
      "the longest that a connection may take to come about"},
     parse_ms, FIELD(connect_timeout_max_ms), 0, INT64_MAX, NULL},
    {{"socket.connection.setup.timeout.ms", "milliseconds", "10000",
      "how long the first may take; each that fails doubles it"},
     parse_ms, FIELD(connect_timeout_ms), 0, INT64_MAX, NULL},
#undef FIELD
};

enum { PROPERTY_COUNT = sizeof properties / sizeof *properties };

bool krc_config_property(size_t i, struct krc_property *property)
{
    if (i >= PROPERTY_COUNT)
        return false;
    *property = properties[i].is;
    return true;
}

/* ---- Values -------------------------------------------------------------------------------- */

static int64_t *number_field(krc_config *config, size_t property)
{
    return (int64_t *)(void *)((char *)config + properties[property].field);
}

static int refuse(size_t property, const char *value, krc_error *error)
{
    const struct krc_property *is = &properties[property].is;
    return krc_fail(error, KRC_E_INVALID, "%s cannot be \"%s\": it is one of: %s", is->name, value,
                    is->type);
}

static int parse_text(krc_config *config, size_t property, const char *value, krc_error *error)
{
    const struct property *p = &properties[property];
    char **field = (char **)(void *)((char *)config + p->field);
    if (p->most > 0 && strlen(value) > (size_t)p->most)
        return krc_fail(error, KRC_E_INVALID, "%s cannot be longer than %lld bytes", p->is.name,
                        (long long)p->most);
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free(*field);
    *field = copy;
    return KRC_OK;
}

static int parse_servers(krc_config *config, size_t property, const char *value, krc_error *error)
{
    KRC_TRY(krc_parse_servers(value, NULL, NULL, error));
    return parse_text(config, property, value, error);
}

static int parse_choice(krc_config *config, size_t property, const char *value, krc_error *error)
{
    int64_t number = 0;
    size_t len = strlen(value);
    for (const char *p = properties[property].choices; *p != '\0'; number++) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, value, n) == 0) {
            *number_field(config, property) = number;
            return KRC_OK;
        }
        p += n + (p[n] == ' ');
    }
    return refuse(property, value, error);
}

static int parse_number(krc_config *config, size_t property, const char *value, krc_error *error)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    const struct property *p = &properties[property];
    if (end == value || *end != '\0' || errno != 0 || number < p->least || number > p->most)
        return krc_fail(error, KRC_E_INVALID,
                        "%s cannot be \"%s\": it is a number of %s from %lld to %lld", p->is.name,
                        value, p->is.type, (long long)p->least, (long long)p->most);
    *number_field(config, property) = number;
    return KRC_OK;
}

static int parse_ms(krc_config *config, size_t property, const char *value, krc_error *error)
{
    KRC_TRY(parse_number(config, property, value, error));
    int64_t *ms = number_field(config, property);
    if (*ms > KRC_LONGEST_MS)
        *ms = KRC_LONGEST_MS;
    return KRC_OK;
}

/* Takes "12.5S" and such off the text: a number and its unit.  strtod alone would also take
 * "0x1" and "1e5". */
static bool take_unit(const char **text, double *number, char *unit)
{
    char *end;
    size_t digits = strspn(*text, "0123456789.");
    if (**text == '.')
        return false;
    *number = strtod(*text, &end);
    if (digits == 0 || end != *text + digits || *end == '\0')
        return false;
    *unit = *end;
    *text = end + 1;
    return true;
}

bool krc_parse_duration(const char *text, int64_t *ms)
{
    double seconds = 0, number;
    char unit;
    if (*text++ != 'P' || *text == '\0')
        return false;
    while (*text != '\0' && *text != 'T') {
        if (!take_unit(&text, &number, &unit) || (unit != 'D' && unit != 'W'))
            return false;
        seconds += number * (unit == 'D' ? 86400 : 7 * 86400);
    }
    if (*text == 'T' && *++text == '\0')
        return false;
    while (*text != '\0') {
        if (!take_unit(&text, &number, &unit) || strchr("HMS", unit) == NULL)
            return false;
        seconds += number * (unit == 'H' ? 3600 : unit == 'M' ? 60 : 1);
    }
    if (seconds > 1e12)
        return false;
    *ms = (int64_t)(seconds * 1000 + 0.5);
    return true;
}

static int parse_reset(krc_config *config, size_t property, const char *value, krc_error *error)
{
    static const struct {
        const char *name;
        enum krc_reset_policy policy;
    } names[] = {{"nearest", KRC_RESET_NEAREST},
                 {"earliest", KRC_RESET_EARLIEST},
                 {"latest", KRC_RESET_LATEST},
                 {"none", KRC_RESET_NONE},
                 {"error", KRC_RESET_NONE}};
    static const char prefix[] = "by_duration:";
    if (strncmp(value, prefix, sizeof prefix - 1) == 0) {
        if (!krc_parse_duration(value + sizeof prefix - 1, &config->reset_duration_ms))
            return krc_fail(error, KRC_E_INVALID,
                            "%s cannot be \"%s\": by_duration: takes an ISO 8601 duration such as "
                            "PT1H or P2DT12H",
                            properties[property].is.name, value);
        config->reset_policy = KRC_RESET_BY_DURATION;
        return KRC_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i].name) != 0)
            continue;
        config->reset_policy = names[i].policy;
        return KRC_OK;
    }
    return refuse(property, value, error);
}

static void free_log_dirs(krc_config *config)
{
    for (size_t i = 0; i < config->log_dir_count; i++)
        free(config->log_dirs[i]);
    free(config->log_dirs);
    config->log_dirs = NULL;
    config->log_dir_count = 0;
}

static int add_log_dir(krc_config *config, const char *path, size_t len, krc_error *error)
{
    size_t size = (config->log_dir_count + 1) * sizeof *config->log_dirs;
    char **dirs = realloc(config->log_dirs, size);
    if (dirs == NULL)
        return krc_fail_nomem(error, size);
    config->log_dirs = dirs;
    char *copy = strndup(path, len);
    if (copy == NULL)
        return krc_fail_nomem(error, len + 1);
    dirs[config->log_dir_count++] = copy;
    return KRC_OK;
}

static int parse_log_dirs(krc_config *config, size_t property, const char *value, krc_error *error)
{
    (void)property;
    free_log_dirs(config);
    while (*value != '\0') {
        size_t len = strcspn(value, ",");
        if (len > 0)
            KRC_TRY(add_log_dir(config, value, len, error));
        value += len + (value[len] == ',');
    }
    return KRC_OK;
}

/* ---- Names --------------------------------------------------------------------------------- */

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < PROPERTY_COUNT && strcmp(properties[i].is.name, name) != 0)
        i++;
    return i;
}

static int set(krc_config *config, size_t i, const char *value, krc_error *error)
{
    KRC_TRY(properties[i].parse(config, i, value, error));
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free(config->settings[i].text);
    config->settings[i].text = copy;
    return KRC_OK;
}

int krc_config_set(krc_config *config, const char *name, const char *value, krc_error *error)
{
    size_t i = find(name);
    if (i == PROPERTY_COUNT)
        return krc_refuse_name(name, error);
    KRC_TRY(set(config, i, value, error));
    config->settings[i].said = true;
    return KRC_OK;
}

const char *krc_config_get(const krc_config *config, const char *name)
{
    size_t i = find(name);
    return i == PROPERTY_COUNT || config->settings[i].text[0] == '\0' ? NULL
                                                                     : config->settings[i].text;
}

/* Its path does not go into the text of "log.dirs", where a comma would part it. */
int krc_config_add_log_dir(krc_config *config, const char *path, krc_error *error)
{
    size_t i = find("log.dirs");
    if (*path == '\0')
        return krc_fail(error, KRC_E_INVALID, "a log folder's path is empty");
    if (!config->settings[i].said)
        KRC_TRY(set(config, i, "", error));
    config->settings[i].said = true;
    return add_log_dir(config, path, strlen(path), error);
}

int krc_config_merge(krc_config *config, const krc_config *other, krc_error *error)
{
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (other->settings[i].said && !config->settings[i].said)
            KRC_TRY(set(config, i, other->settings[i].text, error));
    return KRC_OK;
}

/* ---- The whole ----------------------------------------------------------------------------- */

krc_config *krc_config_new(void)
{
    krc_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    config->settings = calloc(PROPERTY_COUNT, sizeof *config->settings);
    if (config->settings == NULL)
        goto failed;
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (set(config, i, properties[i].is.default_value, NULL) < 0)
            goto failed;
    return config;
failed:
    krc_config_free(config);
    return NULL;
}

krc_config *krc_config_copy(const krc_config *config)
{
    krc_config *copy = krc_config_new();
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (set(copy, i, config->settings[i].text, NULL) < 0)
            goto failed;
    free_log_dirs(copy); /* "log.dirs" as text knows nothing of paths with a comma */
    for (size_t i = 0; i < config->log_dir_count; i++)
        if (add_log_dir(copy, config->log_dirs[i], strlen(config->log_dirs[i]), NULL) < 0)
            goto failed;
    return copy;
failed:
    krc_config_free(copy);
    return NULL;
}

void krc_config_free(krc_config *config)
{
    if (config == NULL)
        return;
    free_log_dirs(config);
    free(config->bootstrap_servers);
    free(config->client_id);
    free(config->client_rack);
    free(config->group_id);
    free(config->store_file);
    for (size_t i = 0; config->settings != NULL && i < PROPERTY_COUNT; i++)
        free(config->settings[i].text);
    free(config->settings);
    free(config);
}
