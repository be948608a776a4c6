/*
 * What can be wrong between us and a broker that speaks TLS, in words.  The sentences begin with
 * "it" or "its", the broker.
 */
#ifndef KRC_SECURITY_TROUBLE_H
#define KRC_SECURITY_TROUBLE_H

#include "base/error.h"

enum krc_certificate_fault {
    KRC_CERTIFICATE_BAD, /* in another way than those below */
    KRC_CERTIFICATE_UNTRUSTED,
    KRC_CERTIFICATE_EXPIRED,
    KRC_CERTIFICATE_NOT_YET_VALID,
    KRC_CERTIFICATE_OTHER_HOST,
    KRC_CERTIFICATE_OTHER_USE,
    KRC_CERTIFICATE_WEAK,
};

/* The broker's certificate, or one above it in its chain, is not good: KRC_E_REFUSED. */
int krc_fail_certificate(krc_error *error, enum krc_certificate_fault fault, bool is_above,
                         const char *detail);

/* The broker sent an alert (RFC 8446, 6) that ends the connection.  `lacks_ours`: it asked for a
 * certificate, and got none.  `name` is the alert's. */
int krc_fail_alert(krc_error *error, int alert, const char *name, bool lacks_ours);

#endif
