#include <stdlib.h>
#include <string.h>

#include "consumer/config_values.h"

/* ---- The table ----------------------------------------------------------------------------- */

static krc_value_fn value_log_dirs;

enum { WIRE_TEXT = INT16_MAX }; /* what a request can carry */
enum { LOGIN_MS = INT32_MAX / 2 }; /* two of them are what libcurl can wait */

#define STORE_TYPES "PEM, PKCS12, JKS"
#define STORE_CHOICES " PEM PKCS12 JKS"
#define STORE_TYPE_MEANING                                                                       \
    "what kind of file it is; where this is empty, krc looks into it. Java's clients say JKS of "  \
    "PKCS12 files, too: one that truly is JKS has to be converted"

static const struct krc_row properties[] = {
#define FIELD(name) offsetof(krc_config, name)
    {{"allow.auto.create.topics", "false, true", "false",
      "true: a topic that is asked for and is not there may be made by the broker (Kafka's "
      "default); krc reads, and a misspelt name must not make a topic"},
     krc_value_choice, FIELD(auto_create_topics), 0, 0, "false true"},
    {{"auto.commit.interval.ms", "milliseconds", "5000",
      "how often krc read --store commits while it follows a cluster"},
     krc_value_ms, FIELD(commit_interval_ms), 0, INT32_MAX, NULL},
    {{"auto.offset.reset", "nearest, earliest, latest, none, error, by_duration:DURATION",
      "nearest",
      "where to go on when the committed offset is not in the log, or there is none: nearest is "
      "the log start for an offset below it, and for one beyond the end the place where the "
      "histories diverge; none (also error) stops"},
     krc_value_reset, FIELD(reset_policy), 0, 0, NULL},
    {{"bootstrap.servers", "HOST:PORT, a comma between", "",
      "brokers of a cluster to begin with; an IPv6 address goes in brackets"},
     krc_value_servers, FIELD(bootstrap_servers), 0, 0, NULL},
    {{"buffered.max.bytes", "bytes", "67108864",
      "responses that are received and not released yet; beyond it nothing more is fetched until "
      "batches are released"},
     krc_value_number, FIELD(buffered_max_bytes), 1, INT64_MAX, NULL},
    {{"client.dns.lookup", "use_all_dns_ips, resolve_canonical_bootstrap_servers_only",
      "use_all_dns_ips",
      "use_all_dns_ips tries each address that a name has; "
      "resolve_canonical_bootstrap_servers_only first puts the canonical names of its addresses in "
      "a bootstrap server's place"},
     krc_value_choice, FIELD(dns_lookup), 0, 0,
     "use_all_dns_ips resolve_canonical_bootstrap_servers_only"},
    {{"client.id", "text", "krc", "the name that brokers log, count and set quotas by"},
     krc_value_text, FIELD(client_id), 0, WIRE_TEXT, NULL},
    {{"client.rack", "text", "",
      "where this client is, as in the brokers' broker.rack: replicas there are read from, if the "
      "brokers select so"},
     krc_value_text, FIELD(client_rack), 0, WIRE_TEXT, NULL},
    {{"commit.interval.bytes", "bytes", "4194304",
      "replay commits at the end of the batch with which so much output has come together"},
     krc_value_number, FIELD(commit_interval_bytes), 1, INT64_MAX, NULL},
    {{"commit.to.group", "false, true", "false",
      "true: what is committed to an offset store (offset.store.file, or a replay's own) is then "
      "committed to group.id in the cluster, too, for others to see; where there is no store, "
      "group.id is the store"},
     krc_value_choice, FIELD(group_commit), 0, 0, "false true"},
    {{"connections.max.idle.ms", "milliseconds", "540000",
      "a connection that is not used for so long is closed; -1: never"},
     krc_value_ms, FIELD(idle_close_ms), -1, INT64_MAX, NULL},
    {{"decompressed.batch.max.bytes", "bytes", "268435456",
      "a batch that decompresses to more is an error, and the position holds in front of it"},
     krc_value_number, FIELD(max_decompressed_bytes), 1, INT32_MAX, NULL},
    {{"default.api.timeout.ms", "milliseconds", "60000",
      "how long a call that has to ask the cluster may take, retries included"},
     krc_value_ms, FIELD(api_timeout_ms), 0, INT32_MAX, NULL},
    {{"exclude.internal.topics", "false, true", "true",
      "internal topics (__consumer_offsets and such) are only read where they are named in full; "
      "false: by a pattern, too"},
     krc_value_choice, FIELD(exclude_internal_topics), 0, 0, "false true"},
    {{"fetch.max.bytes", "bytes", "1048576",
      "how much one response may hold (Kafka's default is 50 MiB); a batch that is larger comes "
      "all the same"},
     krc_value_number, FIELD(fetch_max_bytes), 0, INT32_MAX, NULL},
    {{"fetch.max.wait.ms", "milliseconds", "500",
      "how long a broker waits for fetch.min.bytes before it answers; up to eight times as long "
      "where 250 partitions and more had nothing, and as short as this for what is asked anew"},
     krc_value_ms, FIELD(fetch_max_wait_ms), 0, INT32_MAX, NULL},
    {{"fetch.min.bytes", "bytes", "1",
      "a broker answers when it has so much, or at fetch.max.wait.ms"},
     krc_value_number, FIELD(fetch_min_bytes), 0, INT32_MAX, NULL},
    {{"group.id", "text", "",
      "whose committed offsets; the rows of an offset store are named by it, \"default\" where it "
      "is empty"},
     krc_value_text, FIELD(group_id), 0, WIRE_TEXT, NULL},
    {{"group.instance.id", "text", "",
      "a static member of group.id: one that is away for less than session.timeout.ms gets the "
      "same partitions back, without a rebalance"},
     NULL, 0, 0, 0, NULL},
    {{"group.protocol", "classic, consumer", "classic",
      "how a group is joined: consumer is KIP-848, in which the brokers assign (Kafka 4.0 and "
      "later)"},
     krc_value_choice, FIELD(group_protocol), 0, 0, "classic consumer"},
    {{"group.remote.assignor", "text", "",
      "group.protocol=consumer: the brokers' assignor to use, such as uniform or range; where it "
      "is empty, their choice"},
     NULL, 0, 0, 0, NULL},
    {{"heartbeat.interval.ms", "milliseconds", "3000",
      "group.protocol=classic: how often the group's coordinator hears of a member; else the "
      "brokers say"},
     krc_value_ms, FIELD(heartbeat_interval_ms), 1, INT32_MAX, NULL},
    {{"isolation.level", "read_committed, read_uncommitted", "read_committed",
      "read_committed leaves out aborted transactions and ends at the last stable offset"},
     krc_value_choice, FIELD(read_uncommitted), 0, 0, "read_committed read_uncommitted"},
    {{"log.dirs", "paths, a comma between", "",
      "data folders to read: a broker's, one TOPIC-PARTITION folder, or one .log file"},
     value_log_dirs, 0, 0, 0, NULL},
    {{"log.format", "current, 0.7", "current",
      "0.7: the folders hold Kafka 0.7 logs, which do not say so themselves"},
     krc_value_choice, FIELD(format_07), 0, 0, "current 0.7"},
    {{"max.partition.fetch.bytes", "bytes", "1048576",
      "how much one response may hold of one partition; a batch that is larger comes all the same"},
     krc_value_number, FIELD(partition_max_bytes), 0, INT32_MAX, NULL},
    {{"max.poll.interval.ms", "milliseconds", "300000",
      "a member of a group that does not poll for so long leaves it until it does; also how long "
      "the others wait in a rebalance for it to give up its partitions"},
     krc_value_ms, FIELD(max_poll_interval_ms), 1, INT32_MAX, NULL},
    {{"metadata.max.age.ms", "milliseconds", "300000",
      "metadata is asked for anew after so long, without need: new partitions are found by it"},
     krc_value_ms, FIELD(metadata_max_age_ms), 0, INT64_MAX, NULL},
    {{"metadata.recovery.rebootstrap.trigger.ms", "milliseconds", "300000",
      "when no broker has answered a question for metadata for so long, bootstrap.servers are "
      "tried again"},
     krc_value_ms, FIELD(rebootstrap_trigger_ms), 0, INT64_MAX, NULL},
    {{"metadata.recovery.strategy", "none, rebootstrap", "rebootstrap",
      "rebootstrap goes back to bootstrap.servers where no known broker can be reached; none goes "
      "on trying the known ones"},
     krc_value_choice, FIELD(rebootstrap), 0, 0, "none rebootstrap"},
    {{"offset.store.file", "path", "", "the SQLite file that keeps committed offsets"},
     krc_value_text, FIELD(store_file), 0, 0, NULL},
    {{"offset.store.moved.cluster", "false, true", "false",
      "true: the topics have moved, with their offsets, from the cluster that the group's rows in "
      "the store were read from to the one that is read now; without it, another cluster is "
      "refused. Topic ids and leader epochs of the old cluster do not count"},
     krc_value_choice, FIELD(moved_cluster), 0, 0, "false true"},
    {{"partition.assignment.strategy", "range, roundrobin, sticky, cooperative-sticky",
      "range,cooperative-sticky",
      "group.protocol=classic: how the group's leader assigns, the preferred first, a comma "
      "between; all members have to have one in common. Kafka's class names will do, too"},
     krc_value_assignors, 0, 0, 0, NULL},
    {{"receive.buffer.bytes", "bytes", "-1",
      "SO_RCVBUF; -1: the system's choice, which grows with the connection, while a number given "
      "is a limit (Kafka's default is 65536)"},
     krc_value_number, FIELD(receive_buffer_bytes), -1, INT32_MAX, NULL},
    {{"receive.message.max.bytes", "bytes", "100000000",
      "a batch that is larger as stored is an error, and the position holds in front of it"},
     krc_value_number, FIELD(max_message_bytes), 1024, INT32_MAX, NULL},
    {{"reconnect.backoff.max.ms", "milliseconds", "1000",
      "the longest wait before another connection to a broker that refuses them"},
     krc_value_ms, FIELD(reconnect_backoff_max_ms), 0, INT64_MAX, NULL},
    {{"reconnect.backoff.ms", "milliseconds", "50", "the first wait; each refusal doubles it"},
     krc_value_ms, FIELD(reconnect_backoff_ms), 0, INT64_MAX, NULL},
    {{"request.timeout.ms", "milliseconds", "30000",
      "a request that is not answered for so long fails, and its connection is closed"},
     krc_value_ms, FIELD(request_timeout_ms), 0, INT32_MAX, NULL},
    {{"retry.backoff.max.ms", "milliseconds", "1000",
      "the longest wait before a request is repeated that failed, or was good for nothing"},
     krc_value_ms, FIELD(retry_backoff_max_ms), 0, INT64_MAX, NULL},
    {{"retry.backoff.ms", "milliseconds", "100", "the first wait; each repetition doubles it"},
     krc_value_ms, FIELD(retry_backoff_ms), 0, INT64_MAX, NULL},
    {{"sasl.jaas.config", "CLASS required NAME=\"VALUE\"...;", "",
      "who we are, as Kafka's clients are told: PlainLoginModule or ScramLoginModule with username "
      "and password (tokenauth, too), OAuthBearerLoginModule with extension_NAME, clientId, "
      "clientSecret, scope, and ssl.truststore.location (PEM) for an https: URL; a secret, see "
      "sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"sasl.login.connect.timeout.ms", "milliseconds", "10000",
      "how long a connection to sasl.oauthbearer.token.endpoint.url may take"},
     krc_value_ms, FIELD(login_connect_ms), 1, LOGIN_MS, NULL},
    {{"sasl.login.read.timeout.ms", "milliseconds", "10000",
      "how long it may take to answer, beyond that"},
     krc_value_ms, FIELD(login_read_ms), 1, LOGIN_MS, NULL},
    {{"sasl.mechanism", "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER", "",
      "how we say who we are; with SASL it has to be set (Kafka's default is GSSAPI, which krc has "
      "not)"},
     krc_value_mechanism, FIELD(sasl_mechanism), 0, 0,
     " PLAIN SCRAM-SHA-256 SCRAM-SHA-512 OAUTHBEARER"},
    {{"sasl.oauthbearer.client.credentials.client.id", "text", "",
      "whom sasl.oauthbearer.token.endpoint.url gives a token: instead of clientId in "
      "sasl.jaas.config"},
     NULL, 0, 0, 0, NULL},
    {{"sasl.oauthbearer.client.credentials.client.secret", "text", "",
      "instead of clientSecret in sasl.jaas.config; a secret, see sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"sasl.oauthbearer.header.urlencode", "false, true", "false",
      "true: the client's id and secret are URL-encoded first, as RFC 6749 has it"},
     krc_value_choice, FIELD(encodes_header), 0, 0, "false true"},
    {{"sasl.oauthbearer.scope", "text", "",
      "what the token is to be for: instead of scope in sasl.jaas.config"},
     NULL, 0, 0, 0, NULL},
    {{"sasl.oauthbearer.token.command", "a command of the shell", "",
      "prints a token; it is run for each authentication (Kafka's clients have no such property)"},
     NULL, 0, 0, 0, NULL},
    {{"sasl.oauthbearer.token.endpoint.url", "file:///PATH, https://HOST/PATH, http:...", "",
      "a file that holds a token, or a server that gives one for a client's id and secret (OAuth "
      "2.0's client credentials); it is read anew for each authentication"},
     krc_value_token_url, 0, 0, 0, NULL},
    {{"sasl.password", "text", "",
      "librdkafka's; see sasl.username. This and every other secret may also be file:PATH, the "
      "content of a file (a newline at its end is none of it), or env:NAME, an environment "
      "variable"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"sasl.username", "text", "",
      "librdkafka's, for PLAIN and SCRAM: the same as username in sasl.jaas.config"},
     NULL, 0, 0, 0, NULL},
    {{"security.protocol", "PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL", "PLAINTEXT",
      "how brokers are spoken to: SSL is TLS"},
     krc_value_choice_of_any_case, FIELD(security_protocol), 0, 0,
     "PLAINTEXT SSL SASL_PLAINTEXT SASL_SSL"},
    {{"send.buffer.bytes", "bytes", "131072", "SO_SNDBUF; -1: the system's choice"},
     krc_value_number, FIELD(send_buffer_bytes), -1, INT32_MAX, NULL},
    {{"session.timeout.ms", "milliseconds", "45000",
      "group.protocol=classic: a member that is not heard of for so long is out of the group; else "
      "the brokers say"},
     krc_value_ms, FIELD(session_timeout_ms), 1, INT32_MAX, NULL},
    {{"skip.corrupt.batches", "false, true", "false",
      "true: go past a batch that fails its checks, and count its offsets as skipped"},
     krc_value_choice, FIELD(skip_corrupt), 0, 0, "false true"},
    {{"socket.connection.setup.timeout.max.ms", "milliseconds", "30000",
      "the longest that a connection may take to come about"},
     krc_value_ms, FIELD(connect_timeout_max_ms), 0, INT64_MAX, NULL},
    {{"socket.connection.setup.timeout.ms", "milliseconds", "10000",
      "how long the first may take; each that fails doubles it"},
     krc_value_ms, FIELD(connect_timeout_ms), 0, INT64_MAX, NULL},
    {{"ssl.cipher.suites", "names, a comma between", "",
      "those that may be used, by the names of the TLS standards; where it is empty, OpenSSL's "
      "choice"},
     NULL, 0, 0, 0, NULL},
    {{"ssl.enabled.protocols", "TLSv1.2, TLSv1.3", "TLSv1.2,TLSv1.3",
      "which versions may be used; older ones in the list are not"},
     krc_value_tls_versions, FIELD(tls_versions), 0, 0, NULL},
    {{"ssl.endpoint.identification.algorithm", "https, or nothing", "https",
      "https: a broker's certificate has to name its host; empty: it need not, so anybody with a "
      "certificate of the same authority passes as the broker"},
     krc_value_choice_of_any_case, FIELD(checks_host), 0, 0, " https"},
    {{"ssl.key.password", "text", "",
      "of the private key, where it is encrypted; a secret, see sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"ssl.keystore.certificate.chain", "PEM", "",
      "our certificate and those above it, in the place of a file; may be file:PATH or env:NAME, "
      "see sasl.password"},
     NULL, 0, 0, 0, NULL},
    {{"ssl.keystore.key", "PEM", "",
      "our private key, in the place of a file; a secret, see sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"ssl.keystore.location", "path", "",
      "who we are: a file with our certificate, those above it, and the private key"},
     NULL, 0, 0, 0, NULL},
    {{"ssl.keystore.password", "text", "", "of a PKCS12 file; a secret, see sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"ssl.keystore.type", STORE_TYPES, "", STORE_TYPE_MEANING},
     krc_value_choice_of_any_case, FIELD(keystore_type), 0, 0, STORE_CHOICES},
    {{"ssl.protocol", "TLSv1.3, TLSv1.2, TLS", "TLSv1.3",
      "the highest version that may be used; TLS is the same as TLSv1.3"},
     krc_value_choice, FIELD(tls_highest), 0, 0, "TLSv1.3 TLSv1.2 TLS"},
    {{"ssl.truststore.certificates", "PEM", "",
      "the authorities that are trusted, in the place of a file; may be file:PATH or env:NAME, see "
      "sasl.password"},
     NULL, 0, 0, 0, NULL},
    {{"ssl.truststore.location", "path", "",
      "a file with the authorities that are trusted, or a folder of PEM files (librdkafka's "
      "ssl.ca.location); where it is empty, the system's"},
     NULL, 0, 0, 0, NULL},
    {{"ssl.truststore.password", "text", "", "of a PKCS12 file; a secret, see sasl.password"},
     krc_value_secret, 0, 0, 0, NULL},
    {{"ssl.truststore.type", STORE_TYPES, "", STORE_TYPE_MEANING},
     krc_value_choice_of_any_case, FIELD(truststore_type), 0, 0, STORE_CHOICES},
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

/* ---- Log folders --------------------------------------------------------------------------- */

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

static int value_log_dirs(krc_config *config, const struct krc_row *row, const char *value,
                          krc_error *error)
{
    (void)row;
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

bool krc_config_has(const char *name)
{
    return find(name) < PROPERTY_COUNT;
}

static void free_text(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    free(text);
}

static int set(krc_config *config, size_t i, const char *value, int by, krc_error *error)
{
    const struct krc_row *row = &properties[i];
    struct krc_setting *setting = &config->settings[i];
    if (row->take != NULL)
        KRC_TRY(row->take(config, row, value, error));
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free_text(setting->text);
    *setting = (struct krc_setting){.text = copy, .by = by};
    return KRC_OK;
}

int krc_config_set(krc_config *config, const char *name, const char *value, krc_error *error)
{
    size_t i = find(name);
    if (i == PROPERTY_COUNT)
        return krc_refuse_name(name, error);
    return set(config, i, value, KRC_BY_CALL, error);
}

static bool is_secret(size_t i)
{
    return properties[i].take == krc_value_secret;
}

const char *krc_config_get(const krc_config *config, const char *name)
{
    size_t i = find(name);
    if (i == PROPERTY_COUNT || config->settings[i].text[0] == '\0')
        return NULL;
    return is_secret(i) ? "[hidden]" : config->settings[i].text;
}

const char *krc_config_text(const krc_config *config, const char *name)
{
    return config->settings[find(name)].text;
}

bool krc_config_next_secret(const krc_config *config, size_t *i, const char **name,
                            const char **value)
{
    while (*i < PROPERTY_COUNT && (!is_secret(*i) || config->settings[*i].text[0] == '\0'))
        ++*i;
    if (*i == PROPERTY_COUNT)
        return false;
    *name = properties[*i].is.name;
    *value = config->settings[(*i)++].text;
    return true;
}

const char *krc_config_given(const krc_config *config, const char *prefix)
{
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (config->settings[i].by != KRC_BY_DEFAULT &&
            strncmp(properties[i].is.name, prefix, strlen(prefix)) == 0)
            return properties[i].is.name;
    return NULL;
}

/* Its path does not go into the text of "log.dirs", where a comma would part it. */
int krc_config_add_log_dir(krc_config *config, const char *path, krc_error *error)
{
    size_t i = find("log.dirs");
    if (*path == '\0')
        return krc_fail(error, KRC_E_INVALID, "a log folder's path is empty");
    if (config->settings[i].by != KRC_BY_CALL)
        KRC_TRY(set(config, i, "", KRC_BY_CALL, error));
    return add_log_dir(config, path, strlen(path), error);
}

int krc_config_merge(krc_config *config, const krc_config *other, krc_error *error)
{
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (other->settings[i].by == KRC_BY_CALL && config->settings[i].by != KRC_BY_CALL)
            KRC_TRY(set(config, i, other->settings[i].text, KRC_BY_FILE, error));
    return KRC_OK;
}

void krc_config_set_interrupt(krc_config *config, krc_interrupt_fn *interrupt, void *arg)
{
    config->interrupt = (struct krc_interrupt){interrupt, arg};
}

void krc_config_set_note(krc_config *config, krc_note_fn *note, void *arg)
{
    config->note = note;
    config->note_arg = arg;
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
        if (set(config, i, properties[i].is.default_value, KRC_BY_DEFAULT, NULL) < 0)
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
        if (set(copy, i, config->settings[i].text, config->settings[i].by, NULL) < 0)
            goto failed;
    copy->interrupt = config->interrupt;
    copy->note = config->note;
    copy->note_arg = config->note_arg;
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
        free_text(config->settings[i].text);
    free(config->settings);
    free(config->exposed);
    free(config);
}
