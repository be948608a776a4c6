/*
 * SCRAM with a broker that says anything.  The first byte chooses the digest, a line is the first
 * message, the rest the final one: an answer is to our nonce and within the limits, and nothing but
 * the one right signature is taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "security/scram.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NONCE    "rOprNGfwEbeRWgbNEkqO"
#define PASSWORD "pencil"

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* So many iterations are right, and take longer than a fuzzer has. */
static bool is_slow(struct krc_bytes message)
{
    static const char name[] = ",i=";
    char digits[8] = "";
    const uint8_t *at = memmem(message.data, message.len, name, strlen(name));
    if (at != NULL) {
        at += strlen(name);
        size_t len = (size_t)(message.data + message.len - at);
        memcpy(digits, at, len < sizeof digits ? len : sizeof digits - 1);
    }
    int iterations = atoi(digits);
    return iterations > 5000 && iterations <= 1000000;
}

static int step(struct krc_scram *scram, struct krc_bytes message, struct krc_buffer *out)
{
    krc_error error;
    size_t before = out->len;
    int rc = krc_scram_step(scram, message, out, &error);
    must(rc == 1 || rc == 0 || rc == KRC_E_REFUSED || rc == KRC_E_CORRUPT);
    must(rc == 1 || out->len == before);
    must(rc >= 0 || error.code == rc);
    must(rc >= 0 || strstr(error.message, PASSWORD) == NULL ||
         memmem(message.data, message.len, PASSWORD, strlen(PASSWORD)) != NULL);
    return rc;
}

static void check_final(struct krc_scram *scram, struct krc_bytes message, struct krc_buffer *out)
{
    char right[2 + 88 + 1] = "v="; /* of 64 bytes, at the most */
    struct krc_bytes signature = {scram->signature, krc_digest_size(scram->digest)};
    uint8_t *end = krc_base64_encode((uint8_t *)right + 2, signature);
    size_t len = (size_t)(end - (uint8_t *)right);
    if (step(scram, message, out) == 0)
        must(message.len >= len && memcmp(message.data, right, len) == 0);
    must(step(scram, (struct krc_bytes){(uint8_t *)right, len}, out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char start[] = "c=biws,r=" NONCE;
    if (size == 0)
        return 0;
    struct krc_sasl_settings settings = {
        .mechanism = data[0] & 1 ? KRC_SASL_SCRAM_SHA_512 : KRC_SASL_SCRAM_SHA_256,
        .username = "user",
        .password = PASSWORD,
    };
    const uint8_t *line = memchr(data + 1, '\n', size - 1);
    struct krc_bytes first = {data + 1, line != NULL ? (size_t)(line - data) - 1 : size - 1};
    struct krc_bytes final = {line != NULL ? line + 1 : NULL,
                              line != NULL ? (size_t)(data + size - line) - 1 : 0};
    struct krc_scram scram;
    struct krc_buffer out = {0};
    if (is_slow(first))
        return 0;
    must(krc_scram_begin(&scram, &settings, NONCE, &out, NULL) == 1);
    out.len = 0;
    if (step(&scram, first, &out) == 1) {
        must(out.len > strlen(start) && memcmp(out.data, start, strlen(start)) == 0);
        check_final(&scram, final, &out);
    }
    krc_scram_end(&scram);
    krc_buffer_free(&out);
    return 0;
}
