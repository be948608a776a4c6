#include <lz4frame.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

enum { LIMIT = 1 << 20 };

static struct krc_codecs *codecs;
static struct krc_buffer in, out, text;
static krc_error error;
static size_t trailing;

static void setup(void)
{
    codecs = krc_codecs_new();
    ck_assert_ptr_nonnull(codecs);
    in = out = text = (struct krc_buffer){0};
    for (int i = 0; text.len < 300000; i++) { /* a few blocks of every codec */
        char word[32];
        snprintf(word, sizeof word, "%x,", (unsigned)i * 2654435761u >> (i % 23));
        build_append(&text, word, strlen(word));
    }
}

static void teardown(void)
{
    krc_codecs_free(codecs);
    krc_buffer_free(&in);
    krc_buffer_free(&out);
    krc_buffer_free(&text);
}

static struct krc_bytes view(const struct krc_buffer *buffer)
{
    return (struct krc_bytes){buffer->data, buffer->len};
}

static int decompress(int codec, int magic, size_t limit)
{
    trailing = 12345;
    /* a copy of exactly this size, so that a sanitizer sees a read beyond */
    uint8_t *exact = malloc(in.len + 1);
    memcpy(exact, in.data, in.len);
    int rc = krc_decompress(codecs, codec, magic, (struct krc_bytes){exact, in.len}, limit, &out,
                            &trailing, &error);
    free(exact);
    ck_assert_uint_le(out.capacity, limit); /* whatever came of it */
    return rc;
}

static void check(int codec, int magic, const struct krc_buffer *wanted)
{
    int rc = decompress(codec, magic, LIMIT);
    ck_assert_msg(rc == KRC_OK, "%s: %s", krc_codec_name(codec), error.message);
    ck_assert_uint_eq(out.len, wanted->len);
    ck_assert_mem_eq(out.data, wanted->data, wanted->len);
}

static void refuse(int codec, int magic, int code, const char *message)
{
    int rc = decompress(codec, magic, LIMIT);
    ck_assert_msg(rc == code, "%s: %d", krc_codec_name(codec), rc);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

static const int all[] = {
    KRC_GZIP,
    KRC_LZ4,
    KRC_ZSTD,
#ifdef KRC_WITH_SNAPPY
    KRC_SNAPPY,
#endif
};
enum { ALL = sizeof all / sizeof all[0] };

START_TEST(names)
{
    ck_assert_str_eq(krc_codec_name(KRC_NONE), "none");
    ck_assert_str_eq(krc_codec_name(KRC_GZIP), "gzip");
    ck_assert_str_eq(krc_codec_name(KRC_SNAPPY), "snappy");
    ck_assert_str_eq(krc_codec_name(KRC_LZ4), "lz4");
    ck_assert_str_eq(krc_codec_name(KRC_ZSTD), "zstd");
    ck_assert_ptr_null(krc_codec_name(5));
    ck_assert_ptr_null(krc_codec_name(-1));
    build_append(&in, "x", 1);
    ck_assert_int_eq(decompress(KRC_NONE, 2, LIMIT), KRC_E_CORRUPT);
    ck_assert_int_eq(decompress(6, 2, LIMIT), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "there is no compression codec 6");
}
END_TEST

START_TEST(every_codec_again_and_again)
{
    struct krc_buffer half = {text.data, text.len / 2, 0};
    for (int i = 0; i < ALL; i++) {
        in.len = 0;
        build_compress(&in, all[i], view(&text));
        check(all[i], 2, &text);
        in.len = 0;
        build_compress(&in, all[i], view(&half));
        check(all[i], 2, &half);
        ck_assert_uint_eq(trailing, 0);
    }
}
END_TEST

START_TEST(the_limit_is_exact)
{
    for (int i = 0; i < ALL; i++) {
        in.len = 0;
        krc_buffer_free(&out);
        build_compress(&in, all[i], view(&text));
        ck_assert_int_eq(decompress(all[i], 2, text.len - 1), KRC_E_TOO_LARGE);
        char wanted[160];
        snprintf(wanted, sizeof wanted,
                 "decompressed it is larger than %zu bytes: "
                 "raise decompressed.batch.max.bytes to read it",
                 text.len - 1);
        ck_assert_str_eq(error.message, wanted);
        int rc = decompress(all[i], 2, text.len);
        ck_assert_msg(rc == KRC_OK, "%s: %s", krc_codec_name(all[i]), error.message);
        ck_assert_mem_eq(out.data, text.data, text.len);
    }
}
END_TEST

START_TEST(a_bomb_ends_at_the_limit)
{
    struct krc_buffer zeros = {calloc(1, 40 << 20), 40 << 20, 0};
    for (int i = 0; i < ALL; i++) {
        in.len = 0;
        build_compress(&in, all[i], view(&zeros));
        refuse(all[i], 2, KRC_E_TOO_LARGE, "decompressed.batch.max.bytes");
    }
    free(zeros.data);
}
END_TEST

START_TEST(cut_streams_are_corrupt)
{
    static const char *const say[] = {[KRC_GZIP] = "its gzip data are broken",
                                      [KRC_SNAPPY] = "its snappy data are broken",
                                      [KRC_LZ4] = "its LZ4 data are broken",
                                      [KRC_ZSTD] = "its zstd data are broken"};
    for (int i = 0; i < ALL; i++) {
        for (size_t cut = 1; cut < 40; cut++) {
            in.len = 0;
            build_compress(&in, all[i], view(&text));
            in.len = cut < 20 ? in.len - cut : cut - 20;
            if (in.len > 0 || all[i] != KRC_ZSTD) /* no frame at all: no bytes */
                refuse(all[i], 2, KRC_E_CORRUPT, say[all[i]]);
        }
    }
}
END_TEST

START_TEST(changed_bytes_never_do_harm)
{
    for (int i = 0; i < ALL; i++)
        for (size_t at = 0; at < 64; at++) {
            in.len = 0;
            build_compress(&in, all[i], view(&text));
            in.data[at < 32 ? at : in.len * at / 64] ^= (uint8_t)(1 << at % 8);
            int rc = decompress(all[i], 2, LIMIT);
            ck_assert(rc == KRC_OK || rc == KRC_E_CORRUPT || rc == KRC_E_TOO_LARGE);
        }
}
END_TEST

START_TEST(gzip_of_several_members)
{
    struct krc_buffer wanted = {0};
    for (int i = 0; i < 3; i++) {
        build_compress(&in, KRC_GZIP, view(&text));
        build_append(&wanted, text.data, text.len);
    }
    check(KRC_GZIP, 2, &wanted);
    ck_assert_uint_eq(trailing, 0);
    build_append(&in, "\x1f\x8b\x08 junk", 8); /* too short for a member */
    check(KRC_GZIP, 2, &wanted);
    ck_assert_uint_eq(trailing, 8);
    krc_buffer_free(&wanted);
}
END_TEST

START_TEST(gzip_with_a_wrong_checksum)
{
    build_compress(&in, KRC_GZIP, view(&text));
    in.data[in.len - 8] ^= 1;
    refuse(KRC_GZIP, 2, KRC_E_CORRUPT, "its gzip data are broken");
}
END_TEST

#ifdef KRC_WITH_SNAPPY
static void append_xerial(struct krc_bytes plain, size_t block)
{
    build_append(&in, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
    for (size_t at = 0; at < plain.len; at += block) {
        struct krc_buffer packed = {0};
        size_t len = plain.len - at < block ? plain.len - at : block;
        build_compress(&packed, KRC_SNAPPY, (struct krc_bytes){plain.data + at, len});
        build_int(&in, (int64_t)packed.len, 4);
        build_append(&in, packed.data, packed.len);
        krc_buffer_free(&packed);
    }
}

START_TEST(snappy_in_xerial_framing)
{
    struct krc_buffer wanted = {0};
    append_xerial(view(&text), 32 << 10);
    check(KRC_SNAPPY, 2, &text);
    append_xerial(view(&text), 10000); /* a second stream */
    build_append(&wanted, text.data, text.len);
    build_append(&wanted, text.data, text.len);
    check(KRC_SNAPPY, 2, &wanted);
    build_int(&in, 1000, 4);
    refuse(KRC_SNAPPY, 2, KRC_E_CORRUPT, "a block's length goes beyond the end");
    in.len -= 1;
    refuse(KRC_SNAPPY, 2, KRC_E_CORRUPT, "a block's length goes beyond the end");
    in.len = 16;
    build_int(&in, 3, 4);
    build_append(&in, "\x05xx", 3);
    refuse(KRC_SNAPPY, 2, KRC_E_CORRUPT, "a block that does not decode");
    in.len = 16;
    build_int(&in, 0, 4);
    refuse(KRC_SNAPPY, 2, KRC_E_CORRUPT, "a block without a length");
    in.len = 16;
    build_int(&in, -1, 4);
    refuse(KRC_SNAPPY, 2, KRC_E_CORRUPT, "a block's length goes beyond the end");
    krc_buffer_free(&wanted);
}
END_TEST
#else
START_TEST(snappy_in_xerial_framing)
{
    build_append(&in, "x", 1);
    refuse(KRC_SNAPPY, 2, KRC_E_UNSUPPORTED, "install libsnappy-dev and build again");
}
END_TEST
#endif

/* The header of case 9, `checksum`, and one stored block "abc". */
static void lz4_of_case_9(uint8_t checksum)
{
    in.len = 0;
    build_append(&in, "\x04\x22\x4d\x18\x60\x40", 6);
    build_append(&in, &checksum, 1);
    build_append(&in, "\x03\0\0\x80" "abc" "\0\0\0\0", 11);
}

START_TEST(lz4_with_the_header_checksum_of_kip_57) /* case 9 */
{
    struct krc_buffer abc = {(uint8_t *)(uintptr_t)"abc", 3, 0};
    lz4_of_case_9(0x82);
    for (int magic = 0; magic <= 2; magic++)
        check(KRC_LZ4, magic, &abc);
    lz4_of_case_9(0x1a);
    check(KRC_LZ4, 0, &abc);
    refuse(KRC_LZ4, 1, KRC_E_CORRUPT, "ERROR_headerChecksum_invalid");
    refuse(KRC_LZ4, 2, KRC_E_CORRUPT, "ERROR_headerChecksum_invalid");
    in.data[4] = 0xe0; /* version 3: no checksum makes that right */
    refuse(KRC_LZ4, 0, KRC_E_CORRUPT, "its LZ4 data are broken");
}
END_TEST

static void append_lz4_frame(const LZ4F_preferences_t *preferences)
{
    size_t bound = LZ4F_compressFrameBound(text.len, preferences);
    ck_assert_int_eq(krc_buffer_reserve(&in, in.len + bound, NULL), KRC_OK);
    size_t n = LZ4F_compressFrame(in.data + in.len, bound, text.data, text.len, preferences);
    ck_assert(!LZ4F_isError(n));
    in.len += n;
}

START_TEST(lz4_of_all_shapes)
{
    struct krc_buffer wanted = {0};
    for (int size = LZ4F_max64KB; size <= LZ4F_max1MB; size++) {
        LZ4F_preferences_t p = {.frameInfo = {.blockSizeID = (LZ4F_blockSizeID_t)size,
                                              .blockMode = LZ4F_blockLinked,
                                              .contentChecksumFlag = LZ4F_contentChecksumEnabled,
                                              .blockChecksumFlag = LZ4F_blockChecksumEnabled}};
        in.len = wanted.len = 0;
        krc_buffer_free(&out); /* so that linked blocks see it grow under them */
        append_lz4_frame(&p);
        p.frameInfo.blockMode = LZ4F_blockIndependent;
        p.frameInfo.contentSize = text.len;
        append_lz4_frame(&p);
        append_lz4_frame(NULL);
        for (int i = 0; i < 3; i++)
            build_append(&wanted, text.data, text.len);
        check(KRC_LZ4, 2, &wanted);
    }
    build_append(&in, "junk", 4);
    refuse(KRC_LZ4, 2, KRC_E_CORRUPT, "no frame header");
    krc_buffer_free(&wanted);
}
END_TEST

START_TEST(a_declared_size_over_the_limit_takes_no_memory)
{
    LZ4F_preferences_t p = {.frameInfo = {.contentSize = text.len}};
    append_lz4_frame(&p);
    ck_assert_int_eq(decompress(KRC_LZ4, 2, text.len - 1), KRC_E_TOO_LARGE);
    ck_assert_uint_le(out.capacity, 64 << 10);
    in.len = 0;
    build_compress(&in, KRC_ZSTD, view(&text));
    ck_assert_int_eq(decompress(KRC_ZSTD, 2, text.len - 1), KRC_E_TOO_LARGE);
    ck_assert_uint_le(out.capacity, 64 << 10);
}
END_TEST

/* A frame that does not say its content's size, as a stream's writer makes it. */
static void append_zstd_stream(void)
{
    ZSTD_CStream *stream = ZSTD_createCStream();
    size_t bound = ZSTD_compressBound(text.len);
    ck_assert_int_eq(krc_buffer_reserve(&in, in.len + bound, NULL), KRC_OK);
    ZSTD_outBuffer to = {in.data + in.len, bound, 0};
    ZSTD_inBuffer first = {text.data, 1, 0}, rest = {text.data, text.len, 1};
    ck_assert(!ZSTD_isError(ZSTD_compressStream2(stream, &to, &first, ZSTD_e_flush)));
    ck_assert_uint_eq(ZSTD_compressStream2(stream, &to, &rest, ZSTD_e_end), 0);
    in.len += to.pos;
    ZSTD_freeCStream(stream);
    ck_assert_uint_eq(ZSTD_getFrameContentSize(in.data, in.len), ZSTD_CONTENTSIZE_UNKNOWN);
}

START_TEST(zstd_frames_with_and_without_a_size) /* case 10 */
{
    struct krc_buffer wanted = {0};
    append_zstd_stream();
    check(KRC_ZSTD, 2, &text);
    build_compress(&in, KRC_ZSTD, view(&text));
    build_append(&wanted, text.data, text.len);
    build_append(&wanted, text.data, text.len);
    check(KRC_ZSTD, 2, &wanted);
    build_append(&in, "junk", 4);
    refuse(KRC_ZSTD, 2, KRC_E_CORRUPT, "its zstd data are broken (");
    krc_buffer_free(&wanted);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        names, every_codec_again_and_again, the_limit_is_exact, a_bomb_ends_at_the_limit,
        cut_streams_are_corrupt, changed_bytes_never_do_harm, gzip_of_several_members,
        gzip_with_a_wrong_checksum, snappy_in_xerial_framing,
        lz4_with_the_header_checksum_of_kip_57, lz4_of_all_shapes,
        a_declared_size_over_the_limit_takes_no_memory, zstd_frames_with_and_without_a_size,
    };
    return run_tests("records: codec", tests, sizeof tests / sizeof tests[0], setup, teardown);
}
