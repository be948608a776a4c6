/*
 * The properties, as values.
 */
#ifndef KRC_CONSUMER_CONFIG_H
#define KRC_CONSUMER_CONFIG_H

#include "base/buffer.h"
#include "base/interrupt.h"
#include "offsets/offsets.h"

/* Some 35,000 years: a time added to a clock's cannot overflow. */
#define KRC_LONGEST_MS (INT64_C(1) << 50)

enum krc_dns_lookup { KRC_ALL_ADDRESSES, KRC_CANONICAL_NAMES };
enum krc_security_protocol { KRC_PLAINTEXT, KRC_SSL, KRC_SASL_PLAINTEXT, KRC_SASL_SSL };
enum krc_store_type { KRC_UNSAID, KRC_PEM, KRC_PKCS12, KRC_JKS };
enum { KRC_TLS_1_2 = 1, KRC_TLS_1_3 = 2 };

/* Where a value may lie instead: "file:PATH", "env:NAME". */
#define KRC_IN_FILE "file:"
#define KRC_IN_ENVIRONMENT "env:"

struct krc_setting {
    char *text; /* as it was given */
    enum { KRC_BY_DEFAULT, KRC_BY_FILE, KRC_BY_CALL } by; /* a file does not change a call's */
};

struct krc_config {
    char **log_dirs; /* as they stand, in the order given */
    size_t log_dir_count;
    int64_t format_07;       /* log.format: 0 or 1 */
    char *bootstrap_servers; /* "": none; else krc_parse_servers takes it */
    char *client_id, *client_rack; /* "": none */
    char *group_id;          /* "": none */
    char *store_file;        /* "": none */
    int64_t moved_cluster;   /* offset.store.moved.cluster: 0 or 1 */
    int64_t read_uncommitted; /* isolation.level */
    int64_t reset_policy;     /* auto.offset.reset: enum krc_reset_policy */
    int64_t reset_duration_ms;
    int64_t max_message_bytes;
    int64_t max_decompressed_bytes;
    int64_t skip_corrupt;
    int64_t commit_interval_bytes;
    int64_t commit_interval_ms;

    /* what is fetched */
    int64_t fetch_max_wait_ms, fetch_min_bytes, fetch_max_bytes, partition_max_bytes;
    int64_t buffered_max_bytes;
    int64_t auto_create_topics, exclude_internal_topics; /* 0 or 1 */

    /* groups */
    int64_t group_commit;   /* 0 or 1 */
    int64_t group_protocol; /* 0 classic, 1 consumer */
    int64_t heartbeat_interval_ms, session_timeout_ms, max_poll_interval_ms;

    /* how a cluster is reached; no time is longer than KRC_LONGEST_MS */
    int64_t security_protocol;           /* enum krc_security_protocol */
    int64_t dns_lookup;                  /* client.dns.lookup: enum krc_dns_lookup */
    int64_t metadata_max_age_ms;
    int64_t rebootstrap;                 /* metadata.recovery.strategy: 0 or 1 */
    int64_t rebootstrap_trigger_ms;
    int64_t request_timeout_ms, api_timeout_ms;
    int64_t connect_timeout_ms, connect_timeout_max_ms;
    int64_t reconnect_backoff_ms, reconnect_backoff_max_ms;
    int64_t retry_backoff_ms, retry_backoff_max_ms;
    int64_t idle_close_ms;               /* -1: never */
    int64_t send_buffer_bytes, receive_buffer_bytes; /* -1: the system's choice */

    /* TLS and SASL, beside the texts that krc_security_of reads */
    int64_t sasl_mechanism;              /* enum krc_sasl_mechanism */
    int64_t login_connect_ms, login_read_ms;
    int64_t encodes_header;              /* sasl.oauthbearer.header.urlencode: 0 or 1 */
    int64_t tls_versions;                /* ssl.enabled.protocols: KRC_TLS_1_2 | ... */
    int64_t tls_highest;                 /* ssl.protocol: 0 TLSv1.3, 1 TLSv1.2 */
    int64_t checks_host;                 /* 0 or 1 */
    int64_t keystore_type, truststore_type; /* enum krc_store_type */

    struct krc_setting *settings; /* of each property, in the table's order */
    struct krc_interrupt interrupt;
    krc_note_fn *note; /* NULL: none */
    void *note_arg;
    char *exposed; /* a properties file with secrets that others can read; NULL: none */
};

/* A property's value as it was given, a secret's too; "": none. */
const char *krc_config_text(const krc_config *config, const char *name);

/* Goes on from *i to the next secret that has a value (its property's name, and the value). */
bool krc_config_next_secret(const krc_config *config, size_t *i, const char **name,
                            const char **value);

/* The first property that was given, of those of which the name begins so; NULL: none was. */
const char *krc_config_given(const krc_config *config, const char *prefix);

/* A file's whole text, and a NUL behind it. */
int krc_read_text(const char *path, struct krc_buffer *text, krc_error *error) KRC_MUST_USE;

bool krc_others_read(const char *path); /* whether others than its owner may */

krc_config *krc_config_copy(const krc_config *config); /* NULL: out of memory */

/* Takes over what `other` was told and `config` was not. */
int krc_config_merge(krc_config *config, const krc_config *other, krc_error *error) KRC_MUST_USE;

/* Whether it is the name of one of krc's properties. */
bool krc_config_has(const char *name);

/* Properties of Kafka's clients that krc does not have. */
struct krc_foreign {
    const char *names; /* a blank between; one that ends with a dot: all that begin so */
    const char *why;
    bool ignorable; /* reading is the same without it */
};
const struct krc_foreign *krc_find_foreign(const char *name); /* NULL: unknown */

/* Says why a name that krc does not have cannot be set: KRC_E_INVALID, or KRC_E_UNSUPPORTED where
 * it might not be ignored. */
int krc_refuse_name(const char *name, krc_error *error);

/* Walks the text of a properties file, which is written over. */
struct krc_properties {
    char *at;
    size_t line, next_line; /* of the property found last, and at `at`; from 1 */
};

static inline struct krc_properties krc_properties(char *text)
{
    return (struct krc_properties){.at = text, .next_line = 1};
}

/* The next property: 1 one, 0 the end.  Both strings stay in the text.  KRC_E_INVALID: an escape
 * is none; the rest can still be walked. */
int krc_properties_next(struct krc_properties *properties, const char **name, const char **value,
                        krc_error *error) KRC_MUST_USE;

/*
 * The entries of a list HOST:PORT[,HOST:PORT]..., IPv6 addresses in brackets: `host` is without
 * them, and valid during the call.  `each` (NULL: none is told) returns 0 to go on; anything else
 * ends the walk and is returned.  KRC_E_INVALID: an entry is no such thing, and the message names
 * it; those before it were told.
 */
typedef int krc_server_fn(void *arg, const char *host, uint16_t port);
int krc_parse_servers(const char *text, krc_server_fn *each, void *arg,
                      krc_error *error) KRC_MUST_USE;

/* An ISO 8601 duration of weeks, days, hours, minutes and seconds ("P1DT2H", "PT0.5S"). */
bool krc_parse_duration(const char *text, int64_t *ms);

#endif
