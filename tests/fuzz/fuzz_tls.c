/*
 * A broker that sends anything in answer to our hello: it is never believed, and nothing breaks.
 * The first byte says how many bytes come at once, 0: all of them.
 */
#include <stdlib.h>

#include "security/tls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Signed the certificates in the corpus, so that what else is wrong with them is seen. */
static const char authority[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBWzCCAQGgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlhdXRob3Jp\n"
    "dHkwIBcNMjAwMTAxMDAwMDAwWhgPMjEyNTAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM\n"
    "CWF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOnDJquaAhCK+Hje\n"
    "Fgc76QdvSNFlcGML68vSdjyDd8V9sfl1esxpK00vDxge37dzkta1w9yvLLK2aPox\n"
    "nwZS+E+jQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMB0GA1Ud\n"
    "DgQWBBS6fUIR8icr29akUc76BU4HHrvFdTAKBggqhkjOPQQDAgNIADBFAiEAkA02\n"
    "aDmIxZUCbiK53gKoWL5KSjWkQBWXFFN/axrSzQMCIHIQakdkFzGu4gEyVCAGtftn\n"
    "JRX55X/3eplUQ5Qrsqvx\n"
    "-----END CERTIFICATE-----\n";

static struct krc_tls_context *context;

static void make_context(void)
{
    const struct krc_tls_settings settings = {
        .truststore_location = "",
        .truststore_type = "",
        .truststore_password = "",
        .truststore_certificates = authority,
        .keystore_location = "",
        .keystore_type = "",
        .keystore_password = "",
        .keystore_key = "",
        .keystore_certificate_chain = "",
        .key_password = "",
        .enabled_protocols = "",
        .cipher_suites = "",
        .checks_host = true,
    };
    krc_error error;
    if (krc_tls_context_new(&context, &settings, &error) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct krc_tls *tls;
    krc_error error;
    if (context == NULL)
        make_context();
    if (size == 0 || krc_tls_new(&tls, context, "localhost", 9093, &error) < 0)
        return 0;
    size_t piece = data[0] != 0 ? data[0] : size;
    int rc = krc_tls_handshake(tls, &error);
    for (size_t at = 1, n; rc == 0 && at < size; at += n) {
        n = piece < size - at ? piece : size - at;
        krc_tls_received(tls, data + at, n);
        rc = krc_tls_handshake(tls, &error);
    }
    if (rc > 0)
        abort();
    krc_tls_free(tls);
    return 0;
}
