/*
 * What the properties say of TLS and SASL, with secrets from where they lie.
 */
#ifndef KRC_CONSUMER_CONFIG_SECURITY_H
#define KRC_CONSUMER_CONFIG_SECURITY_H

#include "consumer/config.h"
#include "security/sasl.h"
#include "security/tls.h"
#include "security/token.h"

enum { KRC_OWNED_SECRETS = 32 };

struct krc_security {
    bool tls, sasl; /* whether the settings of each are any */
    struct krc_tls_settings tls_settings;
    struct krc_sasl_settings sasl_settings;
    struct krc_token_source token_source; /* OAUTHBEARER */
    struct krc_buffer owned[KRC_OWNED_SECRETS];
    size_t owned_count;
};

/* The configuration has to stay as it is.  KRC_E_INVALID: properties that do not fit together, or
 * are missing; KRC_E_NOT_FOUND, KRC_E_IO, KRC_E_TOO_LARGE: a file with a secret.  No message tells
 * one. */
int krc_security_of(struct krc_security *security, const krc_config *config,
                    krc_error *error) KRC_MUST_USE;
void krc_security_free(struct krc_security *security); /* wiped */

#endif
