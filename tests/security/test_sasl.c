/*
 * The messages of each mechanism, as the RFCs' examples and Kafka's server have them.
 */
#include <string.h>

#include "security/sasl.h"
#include "tests/support/run.h"

#define TOKEN "vF9dft4qmTc2Nvb3RlckBhbHRhdmlzdGEuY29tCg=="

static struct krc_sasl *sasl;
static struct krc_buffer out;
static krc_error error;

static void teardown(void)
{
    krc_sasl_free(sasl);
    sasl = NULL;
    krc_buffer_free(&out);
}

static void begin(const struct krc_sasl_settings *settings, const char *token)
{
    krc_sasl_free(sasl);
    sasl = NULL;
    ck_assert_int_eq(krc_sasl_new(&sasl, settings, token, &error), KRC_OK);
    out.len = 0;
    ck_assert_int_eq(krc_sasl_step(sasl, (struct krc_bytes){0}, &out, &error), 1);
}

static int step(const char *from_broker)
{
    out.len = 0;
    return krc_sasl_step(
        sasl, (struct krc_bytes){(const uint8_t *)from_broker, strlen(from_broker)}, &out, &error);
}

#define EXPECT(literal) expect(literal, sizeof(literal) - 1)

static void expect(const char *bytes, size_t len)
{
    ck_assert_uint_eq(out.len, len);
    ck_assert_mem_eq(out.data, bytes, len);
}

START_TEST(names)
{
    ck_assert_ptr_null(krc_sasl_name(KRC_SASL_NONE));
    ck_assert_str_eq(krc_sasl_name(KRC_SASL_PLAIN), "PLAIN");
    ck_assert_str_eq(krc_sasl_name(KRC_SASL_SCRAM_SHA_256), "SCRAM-SHA-256");
    ck_assert_str_eq(krc_sasl_name(KRC_SASL_SCRAM_SHA_512), "SCRAM-SHA-512");
    ck_assert_str_eq(krc_sasl_name(KRC_SASL_OAUTHBEARER), "OAUTHBEARER");
}
END_TEST

/* RFC 4616, section 4 */
START_TEST(plain)
{
    const struct krc_sasl_settings settings = {
        .mechanism = KRC_SASL_PLAIN, .username = "tim", .password = "tanstaaftanstaaf"};
    begin(&settings, NULL);
    EXPECT("\0tim\0tanstaaftanstaaf");
    ck_assert_int_eq(krc_sasl_step(sasl, (struct krc_bytes){0}, &out, &error), 0);
    begin(&settings, NULL);
    ck_assert_int_eq(step("welcome"), 0);
    ck_assert_uint_eq(out.len, 0);
}
END_TEST

/* ---- SCRAM: test_scram.c has the rest ------------------------------------------------------- */

START_TEST(scram_takes_a_new_nonce_each_time)
{
    static const char start[] = "n,,n=user,r=";
    const struct krc_sasl_settings settings = {
        .mechanism = KRC_SASL_SCRAM_SHA_512, .username = "user", .password = "pencil"};
    char first[sizeof start - 1 + 32];
    begin(&settings, NULL);
    ck_assert_uint_eq(out.len, sizeof first); /* 24 bytes, in base64 */
    ck_assert_mem_eq(out.data, start, strlen(start));
    memcpy(first, out.data, sizeof first);
    begin(&settings, NULL);
    ck_assert_uint_eq(out.len, sizeof first);
    ck_assert_mem_ne(out.data, first, sizeof first);
    ck_assert_int_eq(step(""), KRC_E_CORRUPT);
}
END_TEST

START_TEST(scram_checks_name_and_password_first)
{
    const struct krc_sasl_settings settings = {
        .mechanism = KRC_SASL_SCRAM_SHA_256, .username = "user", .password = "pen\ncil"};
    ck_assert_int_eq(krc_sasl_new(&sasl, &settings, NULL, &error), KRC_E_INVALID);
    ck_assert_ptr_null(sasl);
}
END_TEST

/* ---- OAUTHBEARER ---------------------------------------------------------------------------- */

static struct krc_sasl_settings with_extensions(const char *extensions)
{
    return (struct krc_sasl_settings){.mechanism = KRC_SASL_OAUTHBEARER, .extensions = extensions};
}

/* RFC 7628, section 4.1, without host and port, which Kafka's clients do not send. */
START_TEST(oauthbearer)
{
    const struct krc_sasl_settings settings = with_extensions("");
    begin(&settings, TOKEN);
    EXPECT("n,,\1auth=Bearer " TOKEN "\1\1");
    ck_assert_int_eq(step(""), 0);
    ck_assert_uint_eq(out.len, 0);
}
END_TEST

START_TEST(oauthbearer_has_extensions)
{
    const struct krc_sasl_settings one = with_extensions("traceId=123");
    const struct krc_sasl_settings two = with_extensions("logicalCluster=lkc-1,poolId=a=b c");
    begin(&one, TOKEN);
    EXPECT("n,,\1auth=Bearer " TOKEN "\1traceId=123\1\1");
    begin(&two, TOKEN);
    EXPECT("n,,\1auth=Bearer " TOKEN "\1logicalCluster=lkc-1\1poolId=a=b c\1\1");
}
END_TEST

START_TEST(extensions_that_are_none)
{
    static const char *const wrong[] = {
        "a",     "=b",    "a=",     "a=,b=c", "a=b,",     ",a=b",       "a=b,,c=d",   "a1=b",
        "a_b=c", "a=\1b", "auth=x", "a =b",   "a=b, c=d", "a=b,auth=x", "a=\xc3\xb6",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct krc_sasl_settings settings = with_extensions(wrong[i]);
        ck_assert_msg(krc_sasl_new(&sasl, &settings, TOKEN, &error) == KRC_E_INVALID, "%s",
                      wrong[i]);
        ck_assert_ptr_null(sasl);
        ck_assert_ptr_nonnull(strstr(error.message, "extension"));
        ck_assert_ptr_null(strstr(error.message, TOKEN));
    }
}
END_TEST

START_TEST(tokens_that_are_none)
{
    static const char *const wrong[] = {"",           "=",       "sec ret", "secret\n",
                                        "secret\1\1", "sec=ret", "sec,ret", "s\xc3\xa4ret"};
    const struct krc_sasl_settings settings = with_extensions(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(krc_sasl_new(&sasl, &settings, wrong[i], &error) == KRC_E_INVALID, "%s",
                      wrong[i]);
        ck_assert_ptr_null(strstr(error.message, "ret"));
    }
}
END_TEST

static void check_refused(const char *document, const char *message)
{
    const struct krc_sasl_settings settings = with_extensions(NULL);
    begin(&settings, TOKEN);
    ck_assert_int_eq(step(document), 1);
    EXPECT("\1");
    ck_assert_int_eq(step(""), KRC_E_REFUSED);
    ck_assert_str_eq(error.message, message);
}

/* RFC 7628, section 4.3, Kafka's own, and what is neither. */
START_TEST(a_refused_token)
{
    static const char invalid[] = "it refuses the token: invalid_token";
    static const char silent[] = "it refuses the token: it does not say why";
    check_refused("{\"status\":\"invalid_token\",\"scope\":\"example_scope\","
                  "\"openid-configuration\":"
                  "\"https://example.com/.well-known/openid-configuration\"}",
                  invalid);
    check_refused("{\"scope\":\"x\", \"status\" : \"invalid_token\"}", invalid);
    check_refused("{\"status\":\"invalid_token\"", invalid);
    check_refused("{\"status\":\"invalid_tok", silent);
    check_refused("{\"status\":\"\"}", silent);
    check_refused("{\"status\":401}", silent);
    check_refused("{\"status\"", silent);
    check_refused("{\"status\":\"\x1b[2J\"}", silent);
    check_refused("{\"status\":\"longer than anything that a message would have room for, which "
                  "is a line\"}",
                  silent);
    check_refused("{}", silent);
    check_refused("no", silent);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        names,
        plain,
        scram_takes_a_new_nonce_each_time,
        scram_checks_name_and_password_first,
        oauthbearer,
        oauthbearer_has_extensions,
        extensions_that_are_none,
        tokens_that_are_none,
        a_refused_token,
    };
    return run_tests("sasl", tests, sizeof tests / sizeof *tests, NULL, teardown);
}
