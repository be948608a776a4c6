/*
 * Names of properties that krc does not have: those of Kafka's clients, and misspelt ones.
 */
#include <string.h>

#include "base/nearest.h"
#include "consumer/config.h"

/* As of Kafka 4.3: ConsumerConfig, ProducerConfig, AdminClientConfig and what these share, those
 * of earlier versions too; and what deserializers are commonly told. */
static const struct krc_foreign foreign[] = {
    {"check.crcs", "checksums are always checked", true},
    {"enable.auto.commit", "krc commits what is acknowledged, when it is told to", true},
    {"max.poll.records", "batches are handed on as they are stored", true},
    {"key.deserializer value.deserializer schema.registry. basic.auth. specific.avro.reader",
     "keys and values are handed on as bytes", true},
    {"internal.leave.group.on.close internal.throw.on.fetch.stable.offset.unsupported",
     "it is internal to Kafka's clients", true},
    {"share.acknowledgement.mode share.acquire.mode", "krc joins no share groups", true},
    {"acks batch.size buffer.memory compression.gzip.level compression.lz4.level compression.type"
     " compression.zstd.level delivery.timeout.ms enable.idempotence key.serializer linger.ms"
     " max.block.ms max.in.flight.requests.per.connection max.request.size metadata.max.idle.ms"
     " partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms"
     " partitioner.class partitioner.ignore.keys transaction.timeout.ms"
     " transaction.two.phase.commit.enable transactional.id value.serializer",
     "it is for producers", true},
    {"bootstrap.controllers", "records are read from brokers", true},
    {"retries", "times limit how often something is tried again, default.api.timeout.ms above all",
     true},
    {"bootstrap.resolve.timeout.ms", "default.api.timeout.ms limits it", true},
    {"auto.include.jmx.reporter enable.metrics.push metric.reporters metrics.context."
     " metrics.num.samples metrics.recording.level metrics.sample.window.ms",
     "krc keeps no metrics", true},
    {"interceptor.classes security.providers sasl.client.callback.handler.class"
     " sasl.login.callback.handler.class sasl.login.class sasl.oauthbearer.jwt.retriever.class"
     " sasl.oauthbearer.jwt.validator.class",
     "it names Java classes", true},
    {"ssl.keymanager.algorithm ssl.provider ssl.secure.random.implementation"
     " ssl.trustmanager.algorithm",
     "it is about Java's TLS, and krc has OpenSSL", true},
    {"ssl.engine.factory.class", "it names a Java class, which may trust others", false},
    {"sasl.kerberos.", "krc has no GSSAPI", true},
    {"sasl.login.", "a token is read anew for each authentication", true},
    {"sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected. sasl.oauthbearer.jwks."
     " sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name",
     "tokens are checked by brokers", true},
    {"sasl.oauthbearer.assertion.",
     "krc fetches tokens with a client's secret only; sasl.oauthbearer.token.command can do more",
     false},
    {"ssl.ca.location", "it is librdkafka's, and ssl.truststore.location is the same", false},
    {"ssl.certificate.location ssl.key.location",
     "it is librdkafka's; ssl.keystore.location is one file with certificates and key", false},
    {"config.providers config.providers.", "values are taken as they stand", false},
};

/* Goes on to the next of the names in a string, and gives its length (0: there is none). */
static const char *next_name(const char *at, size_t *len)
{
    at += *len;
    at += *at == ' ';
    *len = strcspn(at, " ");
    return at;
}

static bool has_name(const struct krc_foreign *group, const char *name)
{
    size_t len = 0;
    for (const char *at = group->names; at = next_name(at, &len), len > 0;)
        if (strncmp(at, name, len) == 0 && (name[len] == '\0') != (at[len - 1] == '.'))
            return true;
    return false;
}

/* A name of krc's own may begin as some foreign ones do. */
const struct krc_foreign *krc_find_foreign(const char *name)
{
    if (krc_config_has(name))
        return NULL;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (has_name(&foreign[i], name))
            return &foreign[i];
    return NULL;
}

/* ---- The nearest name ---------------------------------------------------------------------- */

/* krc's own are preferred to others that are as near. */
static struct krc_nearest find_nearest(const char *to)
{
    struct krc_nearest nearest = krc_nearest(to);
    struct krc_property property;
    for (size_t i = 0; krc_config_property(i, &property); i++)
        krc_nearest_consider(&nearest, property.name, strlen(property.name));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t len = 0;
        for (const char *at = foreign[i].names; at = next_name(at, &len), len > 0;)
            if (at[len - 1] != '.')
                krc_nearest_consider(&nearest, at, len);
    }
    return nearest;
}

/* What is no name may be a piece of a secret that goes on in the next line: it is not told. */
static int refuse_unknown(const char *name, krc_error *error)
{
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_")] != '\0')
        return krc_fail(error, KRC_E_INVALID, "this is no name of a property (a value that goes on "
                        "in the next line has a backslash at the end of its own)");
    struct krc_nearest nearest = find_nearest(name);
    return krc_fail(error, KRC_E_INVALID, "there is no property \"%s\"; the nearest is %.*s", name,
                    (int)nearest.len, nearest.name);
}

int krc_refuse_name(const char *name, krc_error *error)
{
    const struct krc_foreign *known = krc_find_foreign(name);
    if (known == NULL)
        return refuse_unknown(name, error);
    if (known->ignorable)
        return krc_fail(error, KRC_E_INVALID,
                        "%s is a property of Kafka's clients that does not apply to krc: %s", name,
                        known->why);
    return krc_fail(error, KRC_E_UNSUPPORTED, "%s is not supported: %s", name, known->why);
}
