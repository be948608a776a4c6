/*
 * The names in ssl.enabled.protocols and ssl.cipher.suites.
 */
#ifndef KRC_SECURITY_NAMES_H
#define KRC_SECURITY_NAMES_H

#include "base/error.h"

/* The next of a list's names, between which are commas, colons or blanks; false: there is none.
 * One that is longer than `size` allows is cut, and then is no name that there is. */
bool krc_next_name(const char **list, char *name, size_t size);

/* As in a ClientHello (RFC 8446, 4.1.2). */
enum { KRC_TLS_1_2 = 0x0303, KRC_TLS_1_3 = 0x0304 };

struct krc_tls_versions {
    int lowest, highest;
};

/* "": all that there are.  KRC_E_INVALID: there is no such version; KRC_E_UNSUPPORTED: it is too
 * old. */
int krc_tls_versions(struct krc_tls_versions *versions, const char *names,
                     krc_error *error) KRC_MUST_USE;

#endif
