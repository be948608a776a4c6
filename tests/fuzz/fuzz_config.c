/*
 * Properties: a line each, NAME=VALUE.  A value that is taken is the one that is given back; a
 * refused one leaves the old and is explained.
 */
#include <stdlib.h>
#include <string.h>

#include "consumer/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_duration(const char *text)
{
    int64_t ms = -1;
    if (krc_parse_duration(text, &ms) &&
        (ms < 0 || text[strspn(text, "PTWDHMS.0123456789")] != '\0'))
        abort();
}

static const char *value_of(const krc_config *config, const char *name)
{
    const char *value = krc_config_get(config, name);
    return value != NULL ? value : "";
}

/* As it is given back: a secret is not. */
static bool is_value(const krc_config *config, const char *name, const char *value)
{
    const char *now = value_of(config, name);
    return strcmp(now, value) == 0 || (value[0] != '\0' && strcmp(now, "[hidden]") == 0);
}

static void check_set(krc_config *config, const char *name, const char *value)
{
    krc_error error;
    char *before = strdup(value_of(config, name));
    error.message[0] = '\0';
    int rc = krc_config_set(config, name, value, &error);
    if (!is_value(config, name, rc == KRC_OK ? value : before))
        abort();
    if (rc < 0 && error.message[0] == '\0')
        abort();
    free(before);
}

static void check_line(krc_config *config, char *line)
{
    char *value = strchr(line, '=');
    check_duration(line);
    if (value == NULL)
        return;
    *value++ = '\0';
    check_duration(value);
    check_set(config, line, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size), *rest = text, *line;
    krc_config *config = krc_config_new();
    while (text != NULL && (line = strsep(&rest, "\n")) != NULL)
        check_line(config, line);
    krc_config *copy = krc_config_copy(config);
    struct krc_property property;
    for (size_t i = 0; krc_config_property(i, &property); i++)
        if (strcmp(value_of(config, property.name), value_of(copy, property.name)) != 0)
            abort();
    krc_config_free(copy);
    krc_config_free(config);
    free(text);
    return 0;
}
