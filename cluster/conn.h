/*
 * A connection to a broker, without a socket: bytes and time go in, bytes and answers come out.
 *
 *   in              on                to              doing
 *   CLOSED          wanted            RESOLVING       the name is looked up
 *   RESOLVING       addresses         CONNECTING      the first of them
 *   CONNECTING      connected         GREETING        ApiVersions is sent (behind TLS, if any)
 *   CONNECTING      failed, too late  CONNECTING      the next address; after the last: CLOSED
 *   GREETING        answer            READY           versions are known
 *   GREETING        answer            AUTHENTICATING  the same, with SASL: auth.h
 *   GREETING        UNSUPPORTED       GREETING        once more, with a version the broker has
 *   AUTHENTICATING  it is over        READY
 *   READY           session ends      AUTHENTICATING  once nothing is in flight
 *   any             failed, too late  CLOSED          requests are lost; wanted again later
 */
#ifndef KRC_CLUSTER_CONN_H
#define KRC_CLUSTER_CONN_H

#include "cluster/frame.h"
#include "protocol/api.h"

struct krc_cluster;
struct krc_node;

enum krc_conn_state {
    KRC_CONN_CLOSED,
    KRC_CONN_RESOLVING,
    KRC_CONN_CONNECTING,
    KRC_CONN_GREETING,
    KRC_CONN_AUTHENTICATING,
    KRC_CONN_READY,
};

/* A socket address as the system has it. */
struct krc_address {
    uint8_t bytes[128];
    size_t len;
};

enum { KRC_ADDRESSES_MOST = 16, KRC_CONN_PATIENCE_MS = 2000 /* until others are asked, too */ };

/* What came of a request: a response, or the reason why there is none. */
struct krc_answer {
    int rc; /* KRC_OK, or the error, and `why` */
    const char *why;
    int32_t size; /* KRC_E_TOO_LARGE: of the response */
    size_t came;  /* KRC_E_IO: so many bytes of the response had come */
    int16_t version;
    void *response;          /* of the API's struct; valid during the call, but views into... */
    struct krc_frame *frame; /* ...the frame, which may be held */
};
typedef void krc_answer_fn(void *arg, const struct krc_answer *answer);

struct krc_inflight {
    struct krc_inflight *next;
    enum krc_api_name api;
    int16_t version;
    int32_t correlation_id;
    int64_t overdue_ms, deadline_ms;
    krc_answer_fn *answer;
    void *arg;
};

struct krc_conn {
    struct krc_cluster *cluster;
    struct krc_node *node;
    int purpose;                  /* enum krc_purpose */
    struct krc_conn *next, **back; /* in the list of all */
    const char *host; /* the node's */
    int32_t port;
    bool has_address; /* the two can be connected to */
    enum krc_conn_state state;
    void *io; /* the driver's; NULL while closed */

    struct krc_address *addresses; /* CONNECTING; else NULL */
    size_t address_count, address_at;
    struct krc_api_range versions[KRC_API_COUNT]; /* of the broker; lowest -1: it has none */

    struct krc_inflight *first, **last; /* sent and not answered, in that order */
    int in_flight;
    int32_t next_correlation_id;

    uint8_t prefix[4]; /* a response's size, as far as it is there */
    size_t prefix_len;
    struct krc_frame *frame; /* being received; NULL before its size is known */
    size_t frame_len;        /* bytes of it that are there */
    int64_t heard_ms;        /* when bytes came last */

    struct krc_sasl *sasl;   /* AUTHENTICATING: the exchange; NULL */
    int64_t session_ends_ms; /* the broker's session, early enough; INT64_MAX */
    bool is_answered;        /* something but greeting and authentication was */
    int unanswered;          /* connections that ended before that, and before a byte of it came,
                                one after the other */

    int64_t overdue_ms;   /* from wanted to READY */
    int64_t deadline_ms;  /* CONNECTING; AUTHENTICATING, while a token is fetched */
    int64_t retry_at_ms;  /* CLOSED: not before; */
    int failures;         /* since a request was answered last */
    int32_t refused_size; /* of the response that was too large */
    size_t cut_at;        /* so much had come of the response that was not to come whole */
    bool refused;         /* the last failure was definite: nobody listens, or it is no broker */
    bool denied;          /* and it was about who we are, or who the broker is, which... */
    bool denial_told;     /* ...krc_cluster_denied has told */
    int64_t throttled_to_ms;
    int64_t used_at_ms, wanted_ms;
    bool was_reached;     /* something is at that address */
    char error[400];      /* of the last failure; "" for none since a request was answered */
};

extern const char krc_no_address[]; /* what is wrong with one that cannot be connected to */

/* Another address: whatever was known of the one before is forgotten. */
void krc_conn_init(struct krc_conn *conn, const char *host, int32_t port);

/* Connects, unless it is about to, or has to wait after a failure. */
void krc_conn_want(struct krc_conn *conn);

/* Whether a request may be sent now. */
bool krc_conn_usable(const struct krc_conn *conn);

/* It takes longer to connect, or to answer the oldest request, than a broker that is well does: it
 * is waited for, but others are asked meanwhile. */
bool krc_conn_is_overdue(const struct krc_conn *conn);

/* The version to use of an API, -1: there is none in common. */
int16_t krc_conn_version(const struct krc_conn *conn, enum krc_api_name api);

/* Sends; `answer` is called exactly once, later.  `wait_ms`: how long the broker may take of its
 * own accord, beside the request time-out. */
int krc_conn_send(struct krc_conn *conn, enum krc_api_name api, int16_t version,
                  const void *request, int32_t wait_ms, krc_answer_fn *answer, void *arg,
                  krc_error *error) KRC_MUST_USE;

/* Ends it without a failure; what was in flight is told as lost. */
void krc_conn_close(struct krc_conn *conn, const char *why);

/* What is due at this time: too late, idle. */
void krc_conn_tick(struct krc_conn *conn);

/* The next time at which something is due. */
int64_t krc_conn_deadline(const struct krc_conn *conn);

/* ---- For the driver ------------------------------------------------------------------------ */

/* What the core wants done.  Resolving and connecting may tell of it at once; sending and closing
 * never do. */
struct krc_io_ops {
    void (*resolve)(void *io, struct krc_conn *conn); /* then krc_conn_resolved or _failed */
    void (*connect)(void *io, struct krc_conn *conn, const struct krc_address *address);
    void (*send)(void *io, struct krc_conn *conn, const uint8_t *bytes, size_t len); /* copied */
    void (*close)(void *io, struct krc_conn *conn); /* nothing of it may be told any more */
    void (*token)(void *io, struct krc_conn *conn); /* OAUTHBEARER: then krc_conn_token, _failed */
};

void krc_conn_resolved(struct krc_conn *conn, const struct krc_address *addresses, size_t count);
void krc_conn_connected(struct krc_conn *conn);

/* `refused`: trying again soon would not help. */
void krc_conn_failed(struct krc_conn *conn, bool refused, const char *format, ...)
    KRC_PRINTF(3, 4);

/* Where the next bytes go, and how many fit; len 0: it has failed. */
void krc_conn_space(struct krc_conn *conn, uint8_t **bytes, size_t *len);
void krc_conn_received(struct krc_conn *conn, size_t len);

/* Whether bytes of a response have come that is not there as a whole. */
bool krc_conn_is_hearing(const struct krc_conn *conn);

/* The same as krc_conn_failed where it was about who we are, or who the broker is: asking again
 * would not help, and may lock an account. */
void krc_conn_denied(struct krc_conn *conn, int rc, const char *format, ...) KRC_PRINTF(3, 4);

/* ---- For auth.c ---------------------------------------------------------------------------- */

void krc_conn_ready(struct krc_conn *conn);

#endif
