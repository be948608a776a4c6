/*
 * SCRAM against RFC 7677's example, and against what Python's hashlib and hmac made of the same
 * with SHA-512 and other names.
 */
#include <stdio.h>
#include <string.h>

#include "security/scram.h"
#include "tests/support/run.h"

static struct krc_scram scram;
static struct krc_buffer out;
static krc_error error;

static void teardown(void)
{
    krc_scram_end(&scram);
    krc_buffer_free(&out);
}

static struct krc_bytes bytes_of(const char *text)
{
    return (struct krc_bytes){(const uint8_t *)text, strlen(text)};
}

static void expect(const char *text)
{
    ck_assert_uint_eq(out.len, strlen(text));
    ck_assert_mem_eq(out.data, text, out.len);
}

struct example {
    struct krc_sasl_settings settings;
    const char *nonce;
    const char *client_first, *server_first, *client_final, *server_final;
};

#define NONCE "rOprNGfwEbeRWgbNEkqO"
#define MORE  "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
#define SALT  "W22ZaJ0SNY7soEsUEjb6gQ=="

static const struct example rfc_7677 = {
    .settings = {.mechanism = KRC_SASL_SCRAM_SHA_256, .username = "user", .password = "pencil"},
    .nonce = NONCE,
    .client_first = "n,,n=user,r=" NONCE,
    .server_first = "r=" NONCE MORE ",s=" SALT ",i=4096",
    .client_final = "c=biws,r=" NONCE MORE ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    .server_final = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
};

static const struct example sha_512 = {
    .settings = {.mechanism = KRC_SASL_SCRAM_SHA_512, .username = "user", .password = "pencil"},
    .nonce = NONCE,
    .client_first = "n,,n=user,r=" NONCE,
    .server_first = "r=" NONCE MORE ",s=" SALT ",i=4096",
    .client_final = "c=biws,r=" NONCE MORE
                    ",p=gMGXRcevScNtxZ6/8lQYpGtnsNAc3mGcmNomv+xnoOMw+3R2xNJdMNnzMlTN8PPC6wdp6dyb"
                    "EmDYXYTxwnYPJQ==",
    .server_final = "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq"
                    "199RVG2rR7N7Zw==",
};

/* A delegation token, with every letter in it that has to be written otherwise. */
static const struct example token = {
    .settings = {.mechanism = KRC_SASL_SCRAM_SHA_256,
                 .username = "a=b,c",
                 .password = "pa,ss=w\xc3\xb6rd",
                 .is_token = true},
    .nonce = "nonce",
    .client_first = "n,,n=a=3Db=2Cc,r=nonce,tokenauth=true",
    .server_first = "r=nonce+more,s=AP8gc2FsdA==,i=10000",
    .client_final = "c=biws,r=nonce+more,p=AAW7QCwnbHqLExz4SikyewEr98XOHhx3XPyXKIzrsAo=",
    .server_final = "v=y3Bl+TWMh23R9NLhmnpzKyUaZcEzm5yHMeJZKkW4nWM=",
};

static void begin(const struct example *e)
{
    krc_scram_end(&scram);
    out.len = 0;
    ck_assert_int_eq(krc_scram_check(&e->settings, &error), KRC_OK);
    ck_assert_int_eq(krc_scram_begin(&scram, &e->settings, e->nonce, &out, &error), 1);
    expect(e->client_first);
    out.len = 0;
}

static int step(const char *from_broker)
{
    out.len = 0;
    return krc_scram_step(&scram, bytes_of(from_broker), &out, &error);
}

static void prove(const struct example *e)
{
    begin(e);
    ck_assert_int_eq(step(e->server_first), 1);
    expect(e->client_final);
}

static void check_example(const struct example *e)
{
    prove(e);
    ck_assert_int_eq(step(e->server_final), KRC_OK);
    ck_assert_uint_eq(out.len, 0);
}

START_TEST(examples)
{
    check_example(&rfc_7677);
    check_example(&sha_512);
    check_example(&token);
}
END_TEST

/* ---- server-first --------------------------------------------------------------------------- */

static void check_refused(int rc, int wanted, const char *why)
{
    ck_assert_int_eq(rc, wanted);
    ck_assert_uint_eq(out.len, 0);
    ck_assert_msg(strstr(error.message, why) != NULL, "%s", error.message);
    ck_assert_ptr_null(strstr(error.message, "pencil"));
}

static void check_first(const char *server_first, int wanted, const char *why)
{
    begin(&rfc_7677);
    check_refused(step(server_first), wanted, why);
}

START_TEST(the_nonce_is_ours_and_more)
{
    check_first("r=" NONCE ",s=" SALT ",i=4096", KRC_E_REFUSED, "nonce");
    check_first("r=rOprNGfwEbeRWgbNEkqP" MORE ",s=" SALT ",i=4096", KRC_E_REFUSED, "nonce");
    check_first("r=rOpr,s=" SALT ",i=4096", KRC_E_REFUSED, "nonce");
    check_first("r=x" NONCE MORE ",s=" SALT ",i=4096", KRC_E_REFUSED, "nonce");
    check_first("r=" NONCE " x,s=" SALT ",i=4096", KRC_E_CORRUPT, "no first message");
    check_first("r=" NONCE "\xc3\xb6,s=" SALT ",i=4096", KRC_E_CORRUPT, "no first message");
}
END_TEST

#define FIRST "r=" NONCE MORE ",s=" SALT ",i="

START_TEST(iterations_have_limits)
{
    check_first(FIRST "4095", KRC_E_REFUSED, "4095 iterations");
    check_first(FIRST "1", KRC_E_REFUSED, "1 iterations");
    check_first(FIRST "1000001", KRC_E_REFUSED, "1000001 iterations");
    check_first(FIRST "99999999999999999999", KRC_E_REFUSED, "99999999999999999999 iterations");
    check_first(FIRST "4294971392", KRC_E_REFUSED, "4294971392 iterations"); /* 2^32 + 4096 */
    check_first(FIRST "0", KRC_E_CORRUPT, "no first message");
    check_first(FIRST "04096", KRC_E_CORRUPT, "no first message");
    check_first(FIRST "-4096", KRC_E_CORRUPT, "no first message");
    check_first(FIRST "4096 ", KRC_E_CORRUPT, "no first message");
    check_first(FIRST "4096x", KRC_E_CORRUPT, "no first message");
}
END_TEST

START_TEST(what_is_no_first_message)
{
    static const char *const wrong[] = {
        "",
        "r",
        "r=" NONCE MORE,
        "r=" NONCE MORE ",",
        "r=" NONCE MORE ",s=" SALT,
        "r=" NONCE MORE ",i=4096,s=" SALT,
        "s=" SALT ",r=" NONCE MORE ",i=4096",
        "r=" NONCE MORE ",s=,i=4096",
        "r=" NONCE MORE ",s=W22ZaJ0SNY7soEsUEjb6gQ=,i=4096",
        "r=" NONCE MORE ",s=W22ZaJ0SNY7soEsUEjb6g*==,i=4096",
        FIRST,
        FIRST "4096,",
        "x=1," FIRST "4096",
        "R" FIRST "4096",
        "e=other-error",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_first(wrong[i], KRC_E_CORRUPT, "no first message");
    begin(&rfc_7677);
    check_refused(krc_scram_step(&scram, (struct krc_bytes){0}, &out, &error), KRC_E_CORRUPT,
                  "no first message");
}
END_TEST

START_TEST(no_part_of_a_first_message_is_one)
{
    const char *whole = rfc_7677.server_first;
    char part[200];
    for (size_t len = 0; len < strlen(whole); len++) {
        begin(&rfc_7677);
        snprintf(part, sizeof part, "%.*s", (int)len, whole);
        ck_assert_int_lt(step(part), 0);
        ck_assert_uint_eq(out.len, 0);
    }
}
END_TEST

START_TEST(a_long_message)
{
    static char message[5000];
    memset(message, 'x', sizeof message - 1);
    memcpy(message, "r=", 2);
    check_first(message, KRC_E_CORRUPT, "too many for SCRAM");
}
END_TEST

START_TEST(extensions)
{
    check_first("m=x," FIRST "4096", KRC_E_REFUSED, "extension");
    check_first(FIRST "4096,m=x", KRC_E_REFUSED, "extension");
    begin(&rfc_7677);
    ck_assert_int_eq(step(FIRST "4096,x=y,z=1"), 1); /* these may be ignored, and are signed */
    ck_assert_int_eq(memcmp(out.data, rfc_7677.client_final, strlen("c=biws,r=" NONCE MORE)), 0);
    ck_assert_uint_eq(out.len, strlen(rfc_7677.client_final));
    ck_assert_int_ne(memcmp(out.data, rfc_7677.client_final, out.len), 0);
}
END_TEST

/* ---- server-final --------------------------------------------------------------------------- */

static void check_final(const char *server_final, int wanted, const char *why)
{
    prove(&rfc_7677);
    check_refused(step(server_final), wanted, why);
}

START_TEST(the_signature_has_to_be_right)
{
    static const char why[] = "its signature is wrong";
    check_final("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", KRC_E_REFUSED, why);
    check_final("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G8=", KRC_E_REFUSED, why);
    check_final("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl9", KRC_E_REFUSED, why);
    check_final("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4A", KRC_E_REFUSED, why);
    check_final("v=AAAA", KRC_E_REFUSED, why);
    check_final(sha_512.server_final, KRC_E_REFUSED, why);
}
END_TEST

START_TEST(errors_of_the_broker)
{
    check_final("e=unknown-user", KRC_E_REFUSED, "refuses the user or the password: unknown-user");
    check_final("e=other-error,x=y", KRC_E_REFUSED, "password: other-error");
    check_final("e=\x1b[2J", KRC_E_CORRUPT, "no final message");
}
END_TEST

START_TEST(what_is_no_final_message)
{
    static const char *const wrong[] = {
        "",
        "v",
        "v=",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4", /* no padding */
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=,",
        " v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        "x=y,v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        "e=\x01,v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
        FIRST "4096",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_final(wrong[i], KRC_E_CORRUPT, "no final message");
    check_final("m=x,v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", KRC_E_REFUSED, "extension");
    prove(&rfc_7677);
    ck_assert_int_eq(step("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=,x=y"), KRC_OK);
}
END_TEST

/* ---- Names and passwords -------------------------------------------------------------------- */

static int check(const char *username, const char *password)
{
    const struct krc_sasl_settings settings = {
        .mechanism = KRC_SASL_SCRAM_SHA_256, .username = username, .password = password};
    return krc_scram_check(&settings, &error);
}

START_TEST(names_and_passwords_are_text)
{
    static const char *const right[] = {" ~!\"", "p\xc3\xa4sse", "\xe2\x82\xac", "\xf0\x9f\x94\x91",
                                        "\xc2\xa0"};
    static const char *const wrong[] = {
        "a\nb",         "\x7f",  "\x1f",     "\xc2\x85",        "\xff", "\xc3", "\xe2\x82",
        "\xed\xa0\x80", "\x80x", "\xc0\xaf", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_int_eq(check(right[i], right[i]), KRC_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(check(wrong[i], "pencil"), KRC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(error.message, "user name"));
        ck_assert_int_eq(check("user", wrong[i]), KRC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(error.message, "password"));
        ck_assert_ptr_null(strstr(error.message, wrong[i]));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        examples,
        the_nonce_is_ours_and_more,
        iterations_have_limits,
        what_is_no_first_message,
        no_part_of_a_first_message_is_one,
        a_long_message,
        extensions,
        the_signature_has_to_be_right,
        errors_of_the_broker,
        what_is_no_final_message,
        names_and_passwords_are_text,
    };
    return run_tests("scram", tests, sizeof tests / sizeof *tests, NULL, teardown);
}
