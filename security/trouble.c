#include "security/trouble.h"

int krc_fail_certificate(krc_error *error, enum krc_certificate_fault fault, bool is_above,
                         const char *detail)
{
    static const struct {
        const char *what, *advice;
    } faults[] = {
        [KRC_CERTIFICATE_BAD] = {"is not good", ""},
        [KRC_CERTIFICATE_UNTRUSTED] = {"is not trusted", ": name the CA that signed it in "
                                                         "ssl.truststore.location"},
        [KRC_CERTIFICATE_EXPIRED] = {"has expired", ": it has to be renewed"},
        [KRC_CERTIFICATE_NOT_YET_VALID] = {"is not valid yet", ": is it the right time here?"},
        [KRC_CERTIFICATE_OTHER_HOST] = {"is not for this host", ": connect by a name that it has "
                                        "(ssl.endpoint.identification.algorithm)"},
        [KRC_CERTIFICATE_OTHER_USE] = {"is not for a server", ""},
        [KRC_CERTIFICATE_WEAK] = {"is too weak", ": it has to be made anew"},
    };
    return krc_fail(error, KRC_E_REFUSED, "its %s %s (%s)%s",
                    is_above ? "CA's certificate" : "certificate", faults[fault].what, detail,
                    faults[fault].advice);
}

/* Alerts that tell a cause, by their numbers. */
static const struct alert {
    int number;
    bool wants_ours; /* it may be sent for want of a certificate of ours */
    const char *sentence;
} alerts[] = {
    {40, true, "it has no cipher suite in common with us, or does not accept our certificate "
               "(alert handshake_failure): see ssl.cipher.suites and ssl.keystore.location"},
    {42, true, "it does not accept our certificate (ssl.keystore.location)"},
    {43, true, "it does not take certificates of our kind (ssl.keystore.location)"},
    {44, true, "it says that our certificate is revoked (ssl.keystore.location)"},
    {45, true, "it says that our certificate has expired (ssl.keystore.location)"},
    {46, true, "it does not accept our certificate (ssl.keystore.location)"},
    {48, true, "it does not trust our certificate, for it does not know the CA that signed it "
               "(ssl.keystore.location)"},
    {49, true, "it does not let our certificate in (ssl.keystore.location)"},
    {70, false, "it speaks none of the versions in ssl.enabled.protocols"},
    {71, false, "it demands safer ciphers than ours: see ssl.cipher.suites"},
    {112, false, "it does not know the host name that we call it by"},
    {116, true, "it asks for a client certificate: set ssl.keystore.location"},
};

int krc_fail_alert(krc_error *error, int number, const char *name, bool lacks_ours)
{
    for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++)
        if (alerts[i].number == number)
            return krc_fail(error, KRC_E_REFUSED, "%s",
                            alerts[i].wants_ours && lacks_ours
                                ? "it asks for a client certificate: set ssl.keystore.location"
                                : alerts[i].sentence);
    return krc_fail(error, KRC_E_IO, "it breaks TLS off (alert %s)", name);
}
