/*
 * A text out of a JSON document: RFC 8259's own examples, and what is none.
 */
#include <string.h>

#include "security/json.h"
#include "tests/support/run.h"

static char text[64];

static bool find(const char *json, const char *name)
{
    return krc_json_text((struct krc_bytes){(const uint8_t *)json, strlen(json)}, name, text,
                         sizeof text);
}

static void check_found(const char *json, const char *name, const char *expected)
{
    ck_assert_msg(find(json, name), "%s is not found in %s", name, json);
    ck_assert_str_eq(text, expected);
}

START_TEST(found)
{
    static const char image[] =
        "{\n \"Image\": {\n \"Width\":  800,\n \"Title\":  \"View from 15th Floor\",\n"
        " \"Thumbnail\": {\"Url\": \"http://www.example.com/image/481989943\"},\n"
        " \"IDs\": [116, 943, 234, 38793]\n },\n \"Title\" : \"Outside\"\n}";
    check_found(image, "Title", "Outside");
    check_found("{\"a\":\"\"}", "a", "");
    check_found("{\"a\":-1.5e3,\"b\":null,\"c\":[\"}\",\"\\\"\"],\"d\":\"x\"", "d", "x");
    check_found("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\"}", "a",
                "\"\\/\b\f\n\r\tA?");
}
END_TEST

START_TEST(not_found)
{
    static const char *const bad[] = {
        "", "{", "[]", "[{\"a\":\"x\"}]", "{}", "{\"b\":\"x\"}", "{\"a\"", "{\"a\":", "{\"a\":\"",
        "{\"a\":\"x", "{\"a\":\"x\\", "{\"a\":\"x\\\"}", "{\"a\":1}", "{\"a\":[\"x\"]}",
        "{\"a\":\"\\x\"}", "{\"a\":\"\\u00\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\n\"}", "{\"b\":{\"a\":\"x\"}}", "{\"b\":],\"a\":\"x\"}", "{\"b\":1;\"a\":\"x\"}",
        "{\"a \":\"x\"}", "{a:\"x\"}",
        "{\"a\":\"a text that is just as long as the room that there is for it, so\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!find(bad[i], "a"), "%s", bad[i]);
}
END_TEST

START_TEST(room)
{
    static const uint8_t json[] = "{\"a\":\"abc\"}";
    const struct krc_bytes bytes = {json, sizeof json - 1};
    ck_assert(!krc_json_text(bytes, "a", text, 3));
    ck_assert(krc_json_text(bytes, "a", text, 4));
    ck_assert_str_eq(text, "abc");
}
END_TEST

int main(void)
{
    const TTest *tests[] = {found, not_found, room};
    return run_tests("json", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
