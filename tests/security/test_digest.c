/*
 * Digests against FIPS 180-4, RFC 4231, RFC 7914 and, for PBKDF2 with SHA-512, what Python gives.
 */
#include <stdio.h>
#include <string.h>

#include "security/digest.h"
#include "tests/support/run.h"

static struct krc_bytes text(const char *s)
{
    return (struct krc_bytes){(const uint8_t *)s, strlen(s)};
}

static const char *hex(const uint8_t *bytes, size_t len)
{
    static char out[2 * KRC_DIGEST_MOST + 1];
    for (size_t i = 0; i < len; i++)
        sprintf(out + 2 * i, "%02x", bytes[i]);
    return out;
}

START_TEST(digests)
{
    uint8_t out[KRC_DIGEST_MOST];
    ck_assert_int_eq(krc_digest(KRC_SHA256, text("abc"), out, NULL), KRC_OK);
    ck_assert_str_eq(hex(out, krc_digest_size(KRC_SHA256)),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_int_eq(krc_digest(KRC_SHA512, text("abc"), out, NULL), KRC_OK);
    ck_assert_str_eq(hex(out, krc_digest_size(KRC_SHA512)),
                     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}
END_TEST

START_TEST(hmacs)
{
    uint8_t out[KRC_DIGEST_MOST], key[20];
    memset(key, 0x0b, sizeof key);
    ck_assert_int_eq(krc_hmac(KRC_SHA256, (struct krc_bytes){key, sizeof key}, text("Hi There"),
                              out, NULL),
                     KRC_OK);
    ck_assert_str_eq(hex(out, 32),
                     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    ck_assert_int_eq(krc_hmac(KRC_SHA512, text("Jefe"), text("what do ya want for nothing?"), out,
                              NULL),
                     KRC_OK);
    ck_assert_str_eq(hex(out, 64),
                     "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                     "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");
}
END_TEST

START_TEST(derived_keys)
{
    uint8_t out[KRC_DIGEST_MOST];
    ck_assert_int_eq(krc_pbkdf2(KRC_SHA256, text("passwd"), text("salt"), 1, out, NULL), KRC_OK);
    ck_assert_str_eq(hex(out, 32),
                     "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
    ck_assert_int_eq(krc_pbkdf2(KRC_SHA256, text("Password"), text("NaCl"), 80000, out, NULL),
                     KRC_OK);
    ck_assert_str_eq(hex(out, 32),
                     "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56");
    ck_assert_int_eq(krc_pbkdf2(KRC_SHA512, text("password"), text("salt"), 1, out, NULL), KRC_OK);
    ck_assert_str_eq(hex(out, 64),
                     "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
                     "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce");
}
END_TEST

START_TEST(random_and_equal)
{
    uint8_t a[32] = {0}, b[32] = {0};
    ck_assert(krc_same_bytes(a, b, sizeof a));
    ck_assert_int_eq(krc_random_bytes(a, sizeof a, NULL), KRC_OK);
    ck_assert_int_eq(krc_random_bytes(b, sizeof b, NULL), KRC_OK);
    ck_assert(!krc_same_bytes(a, b, sizeof a));
    memcpy(b, a, sizeof a);
    b[31] ^= 1;
    ck_assert(!krc_same_bytes(a, b, sizeof a));
    ck_assert(krc_same_bytes(a, b, sizeof a - 1));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {digests, hmacs, derived_keys, random_and_equal};
    return run_tests("digest", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
