/*
 * SCRAM as a client (RFC 5802, RFC 7677), without channel binding, as Kafka has it (KIP-84):
 *
 *      client-first  n,,n=NAME,r=NONCE[,tokenauth=true]
 *      server-first  r=NONCE and more,s=SALT,i=ITERATIONS
 *      client-final  c=biws,r=NONCE and more,p=PROOF
 *      server-final  v=SIGNATURE, or e=ERROR
 *
 * Salt, proof and signature are base64.
 */
#ifndef KRC_SECURITY_SCRAM_H
#define KRC_SECURITY_SCRAM_H

#include "security/digest.h"
#include "security/sasl.h"

enum { KRC_SCRAM_NONCE_MOST = 32 };

struct krc_scram {
    enum krc_digest digest;
    const char *password;
    char nonce[KRC_SCRAM_NONCE_MOST + 1];
    struct krc_buffer auth; /* what both sides sign: client-first from n= on, server-first,
                               client-final up to its proof; a comma between */
    bool has_proved;
    uint8_t signature[KRC_DIGEST_MOST]; /* what the broker's has to be */
};

/* KRC_E_INVALID: a name or password that SCRAM cannot carry. */
int krc_scram_check(const struct krc_sasl_settings *settings, krc_error *error) KRC_MUST_USE;

/* Appends client-first.  `nonce`: up to KRC_SCRAM_NONCE_MOST printable characters, no comma. */
int krc_scram_begin(struct krc_scram *scram, const struct krc_sasl_settings *settings,
                    const char *nonce, struct krc_buffer *out, krc_error *error) KRC_MUST_USE;

/* As krc_sasl_step, from server-first on. */
int krc_scram_step(struct krc_scram *scram, struct krc_bytes from_broker, struct krc_buffer *out,
                   krc_error *error) KRC_MUST_USE;

void krc_scram_end(struct krc_scram *scram); /* wiped */

#endif
