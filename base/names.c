#include "base/names.h"

#include <string.h>

#include "base/error.h"

/* No string: a NUL may be among them. */
static bool is_made_of(const char *name, size_t len, const char *letters)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] == '\0' || strchr(letters, name[i]) == NULL)
            return false;
    return true;
}

bool krc_is_topic_name(const void *name, size_t len)
{
    if (len < 1 || len > KRC_TOPIC_NAME_MAX)
        return false;
    bool leads_out = len <= 2 && memcmp(name, "..", len) == 0;
    return !leads_out && is_made_of(name, len, KRC_NAME_LETTERS);
}

int krc_check_topic_name(const char *name, krc_error *error)
{
    if (krc_is_topic_name(name, strlen(name)))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID,
                    "\"%.300s\" is not a valid topic name: use 1 to %d letters, digits, '.', '_' "
                    "and '-', but not \".\" or \"..\"", name, KRC_TOPIC_NAME_MAX);
}

bool krc_is_address(const void *host, size_t len, int32_t port)
{
    return len >= 1 && len <= KRC_HOST_NAME_MAX && port >= 1 && port <= KRC_PORT_MAX &&
           is_made_of(host, len, KRC_NAME_LETTERS ":%");
}
