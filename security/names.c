#include "security/names.h"

#include <stdio.h>
#include <string.h>

bool krc_next_name(const char **list, char *name, size_t size)
{
    static const char between[] = ",: \t";
    *list += strspn(*list, between);
    size_t len = strcspn(*list, between);
    snprintf(name, size, "%.*s", (int)len, *list);
    *list += len;
    return len > 0;
}

static const struct version {
    const char *name;
    int number; /* 0: it is not safe any more */
} all[] = {
    {"TLSv1.2", KRC_TLS_1_2}, {"TLSv1.3", KRC_TLS_1_3}, {"TLSv1.1", 0},
    {"TLSv1", 0},             {"SSLv3", 0},             {"SSLv2Hello", 0},
};

static int add_version(struct krc_tls_versions *to, const char *name, krc_error *error)
{
    size_t i = 0;
    while (i < sizeof all / sizeof *all && strcmp(all[i].name, name) != 0)
        i++;
    if (i == sizeof all / sizeof *all)
        return krc_fail(error, KRC_E_INVALID,
                        "ssl.enabled.protocols: there is no \"%s\", but TLSv1.2 and TLSv1.3", name);
    int number = all[i].number;
    if (number == 0)
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "ssl.enabled.protocols: %s is too old to be safe: name TLSv1.2 or TLSv1.3",
                        name);
    to->lowest = number < to->lowest ? number : to->lowest;
    to->highest = number > to->highest ? number : to->highest;
    return KRC_OK;
}

int krc_tls_versions(struct krc_tls_versions *versions, const char *names, krc_error *error)
{
    char name[32];
    *versions = (struct krc_tls_versions){KRC_TLS_1_3, KRC_TLS_1_2};
    while (krc_next_name(&names, name, sizeof name))
        KRC_TRY(add_version(versions, name, error));
    if (versions->lowest > versions->highest) /* none is named */
        *versions = (struct krc_tls_versions){KRC_TLS_1_2, KRC_TLS_1_3};
    return KRC_OK;
}
