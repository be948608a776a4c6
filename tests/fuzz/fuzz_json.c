/*
 * A server's JSON, out of which a text is taken: it fits, and has no control letters but those that
 * are escaped.
 */
#include <stdlib.h>
#include <string.h>

#include "security/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), few[4];
    bool is_found = krc_json_text((struct krc_bytes){data, size}, "error", text, size + 1);
    if (is_found && strlen(text) > size)
        abort();
    if (krc_json_text((struct krc_bytes){data, size}, "error", few, sizeof few) !=
        (is_found && strlen(text) < sizeof few))
        abort();
    free(text);
    return 0;
}
