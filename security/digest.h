/*
 * What SCRAM needs of cryptography.
 */
#ifndef KRC_SECURITY_DIGEST_H
#define KRC_SECURITY_DIGEST_H

#include "base/error.h"

enum krc_digest { KRC_SHA256, KRC_SHA512 };
enum { KRC_DIGEST_MOST = 64 };

size_t krc_digest_size(enum krc_digest digest); /* 32, 64 */

/* Each writes krc_digest_size bytes.  KRC_E_NOMEM, KRC_E_UNSUPPORTED (the library lacks it). */
int krc_digest(enum krc_digest digest, struct krc_bytes data, uint8_t *out,
               krc_error *error) KRC_MUST_USE;
int krc_hmac(enum krc_digest digest, struct krc_bytes key, struct krc_bytes data, uint8_t *out,
             krc_error *error) KRC_MUST_USE;
int krc_pbkdf2(enum krc_digest digest, struct krc_bytes password, struct krc_bytes salt,
               int iterations, uint8_t *out, krc_error *error) KRC_MUST_USE;

int krc_random_bytes(uint8_t *out, size_t len, krc_error *error) KRC_MUST_USE;

/* In a time that does not tell where they differ. */
bool krc_same_bytes(const uint8_t *a, const uint8_t *b, size_t len);

#endif
