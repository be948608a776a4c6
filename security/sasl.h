/*
 * SASL: one exchange of messages with a broker, which proves who we are; and, with SCRAM, that the
 * broker knows the password too.
 */
#ifndef KRC_SECURITY_SASL_H
#define KRC_SECURITY_SASL_H

#include "base/buffer.h"

enum krc_sasl_mechanism {
    KRC_SASL_NONE,
    KRC_SASL_PLAIN,
    KRC_SASL_SCRAM_SHA_256,
    KRC_SASL_SCRAM_SHA_512,
    KRC_SASL_OAUTHBEARER,
};

/* "SCRAM-SHA-256"; NULL for none. */
const char *krc_sasl_name(enum krc_sasl_mechanism mechanism);

struct krc_sasl_settings {
    enum krc_sasl_mechanism mechanism;
    const char *username, *password;
    bool is_token;          /* SCRAM: they are a delegation token's id and HMAC (tokenauth) */
    const char *extensions; /* OAUTHBEARER: NAME=VALUE, a comma between */
};

/* `token`: OAUTHBEARER's; else NULL.  The settings have to stay. */
struct krc_sasl;
int krc_sasl_new(struct krc_sasl **sasl, const struct krc_sasl_settings *settings,
                 const char *token, krc_error *error) KRC_MUST_USE;
void krc_sasl_free(struct krc_sasl *sasl); /* wiped */

/*
 * Takes what the broker sent (at first nothing, data NULL) and appends the answer to `out`.  1: it
 * is to be sent; 0: the exchange is over, and all is well.  KRC_E_REFUSED: the broker is not who it
 * says (its signature is wrong), or refuses, or asks for what must not be done (too few or too many
 * iterations); KRC_E_CORRUPT: that is no message of the mechanism.  No message tells a secret.
 */
int krc_sasl_step(struct krc_sasl *sasl, struct krc_bytes from_broker, struct krc_buffer *out,
                  krc_error *error) KRC_MUST_USE;

#endif
