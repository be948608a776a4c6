/*
 * A pattern, and behind a NUL a name: nothing breaks, whatever both are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    krc_error error;
    krc_pattern *pattern;
    char *text = malloc(size + 2);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    if (krc_pattern_new(&pattern, text, &error) >= 0) {
        size_t len = strlen(text);
        const char *name = text + len + (len < size);
        if (strlen(name) <= 249 && krc_pattern_matches(pattern, name) !=
                                       krc_pattern_matches(pattern, name))
            abort();
        krc_pattern_free(pattern);
    } else if (error.code != KRC_E_INVALID && error.code != KRC_E_NOMEM) {
        abort();
    }
    free(text);
    return 0;
}
