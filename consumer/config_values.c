#include "consumer/config_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/member.h"

static int refuse(const struct krc_row *row, const char *value, krc_error *error)
{
    return krc_fail(error, KRC_E_INVALID, "%s cannot be \"%s\": it is one of: %s", row->is.name,
                    value, row->is.type);
}

/* ---- Texts --------------------------------------------------------------------------------- */

int krc_value_text(krc_config *config, const struct krc_row *row, const char *value,
                   krc_error *error)
{
    char **field = (char **)(void *)((char *)config + row->field);
    if (row->most > 0 && strlen(value) > (size_t)row->most)
        return krc_fail(error, KRC_E_INVALID, "%s cannot be longer than %lld bytes", row->is.name,
                        (long long)row->most);
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free(*field);
    *field = copy;
    return KRC_OK;
}

int krc_value_servers(krc_config *config, const struct krc_row *row, const char *value,
                      krc_error *error)
{
    KRC_TRY(krc_parse_servers(value, NULL, NULL, error));
    return krc_value_text(config, row, value, error);
}

int krc_value_secret(krc_config *config, const struct krc_row *row, const char *value,
                     krc_error *error)
{
    (void)config;
    if (strcmp(value, KRC_IN_FILE) == 0 || strcmp(value, KRC_IN_ENVIRONMENT) == 0)
        return krc_fail(error, KRC_E_INVALID, "%s begins with \"%s\", and names nothing behind it",
                        row->is.name, value);
    return KRC_OK;
}

/* ---- Choices ------------------------------------------------------------------------------- */

static int64_t *number_field(krc_config *config, const struct krc_row *row)
{
    return (int64_t *)(void *)((char *)config + row->field);
}

typedef int compare_fn(const char *a, const char *b, size_t len);

static int choose(krc_config *config, const struct krc_row *row, const char *value,
                  compare_fn *compare, krc_error *error)
{
    int64_t number = 0;
    size_t len = strlen(value);
    for (const char *p = row->choices; *p != '\0'; number++) {
        size_t n = strcspn(p, " ");
        if (n == len && compare(p, value, n) == 0) {
            *number_field(config, row) = number;
            return KRC_OK;
        }
        p += n + (p[n] == ' ');
    }
    return refuse(row, value, error);
}

int krc_value_choice(krc_config *config, const struct krc_row *row, const char *value,
                     krc_error *error)
{
    return choose(config, row, value, strncmp, error);
}

int krc_value_choice_of_any_case(krc_config *config, const struct krc_row *row, const char *value,
                                 krc_error *error)
{
    return choose(config, row, value, strncasecmp, error);
}

int krc_value_mechanism(krc_config *config, const struct krc_row *row, const char *value,
                        krc_error *error)
{
    static const char *const others[][2] = {
        {"GSSAPI", "it takes a Kerberos library, which krc does without"},
        {"AWS_MSK_IAM", "it is Amazon's own, signed with AWS credentials; MSK offers SCRAM-SHA-512 "
                        "beside it"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(value, others[i][0]) == 0)
            return krc_fail(error, KRC_E_UNSUPPORTED, "%s \"%s\" is not supported: %s; there are %s",
                            row->is.name, value, others[i][1], row->is.type);
    return choose(config, row, value, strncmp, error);
}

static bool has_word(const char *list, const char *word)
{
    static const char between[] = ", \t";
    for (list += strspn(list, between); *list != '\0'; list += strspn(list, between)) {
        size_t len = strcspn(list, between);
        if (len == strlen(word) && memcmp(list, word, len) == 0)
            return true;
        list += len;
    }
    return false;
}

/* Older versions, which nobody should use any more, may stand beside these: they are not used. */
int krc_value_tls_versions(krc_config *config, const struct krc_row *row, const char *value,
                           krc_error *error)
{
    int64_t versions = (has_word(value, "TLSv1.2") ? KRC_TLS_1_2 : 0) |
                       (has_word(value, "TLSv1.3") ? KRC_TLS_1_3 : 0);
    if (versions == 0)
        return refuse(row, value, error);
    *number_field(config, row) = versions;
    return KRC_OK;
}

int krc_value_token_url(krc_config *config, const struct krc_row *row, const char *value,
                        krc_error *error)
{
    static const char *const begins[] = {KRC_IN_FILE, "https://", "http://"};
    (void)config;
    bool is_good = *value == '\0';
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        is_good |= strncmp(value, begins[i], strlen(begins[i])) == 0;
    return is_good ? KRC_OK : refuse(row, value, error);
}

/* ---- Numbers ------------------------------------------------------------------------------- */

int krc_value_number(krc_config *config, const struct krc_row *row, const char *value,
                     krc_error *error)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < row->least || number > row->most)
        return krc_fail(error, KRC_E_INVALID,
                        "%s cannot be \"%s\": it is a number of %s from %lld to %lld",
                        row->is.name, value, row->is.type, (long long)row->least,
                        (long long)row->most);
    *number_field(config, row) = number;
    return KRC_OK;
}

int krc_value_ms(krc_config *config, const struct krc_row *row, const char *value, krc_error *error)
{
    KRC_TRY(krc_value_number(config, row, value, error));
    int64_t *ms = number_field(config, row);
    if (*ms > KRC_LONGEST_MS)
        *ms = KRC_LONGEST_MS;
    return KRC_OK;
}

/* Takes "12.5S" and such off the text: a number and its unit.  strtod alone would also take
 * "0x1" and "1e5". */
static bool take_unit(const char **text, double *number, char *unit)
{
    char *end;
    size_t digits = strspn(*text, "0123456789.");
    if (**text == '.')
        return false;
    *number = strtod(*text, &end);
    if (digits == 0 || end != *text + digits || *end == '\0')
        return false;
    *unit = *end;
    *text = end + 1;
    return true;
}

bool krc_parse_duration(const char *text, int64_t *ms)
{
    double seconds = 0, number;
    char unit;
    if (*text++ != 'P' || *text == '\0')
        return false;
    while (*text != '\0' && *text != 'T') {
        if (!take_unit(&text, &number, &unit) || (unit != 'D' && unit != 'W'))
            return false;
        seconds += number * (unit == 'D' ? 86400 : 7 * 86400);
    }
    if (*text == 'T' && *++text == '\0')
        return false;
    while (*text != '\0') {
        if (!take_unit(&text, &number, &unit) || strchr("HMS", unit) == NULL)
            return false;
        seconds += number * (unit == 'H' ? 3600 : unit == 'M' ? 60 : 1);
    }
    if (seconds > 1e12)
        return false;
    *ms = (int64_t)(seconds * 1000 + 0.5);
    return true;
}

int krc_value_reset(krc_config *config, const struct krc_row *row, const char *value,
                    krc_error *error)
{
    static const struct {
        const char *name;
        enum krc_reset_policy policy;
    } names[] = {{"nearest", KRC_RESET_NEAREST},
                 {"earliest", KRC_RESET_EARLIEST},
                 {"latest", KRC_RESET_LATEST},
                 {"none", KRC_RESET_NONE},
                 {"error", KRC_RESET_NONE}};
    static const char prefix[] = "by_duration:";
    if (strncmp(value, prefix, sizeof prefix - 1) == 0) {
        if (!krc_parse_duration(value + sizeof prefix - 1, &config->reset_duration_ms))
            return krc_fail(error, KRC_E_INVALID,
                            "%s cannot be \"%s\": by_duration: takes an ISO 8601 duration such as "
                            "PT1H or P2DT12H",
                            row->is.name, value);
        config->reset_policy = KRC_RESET_BY_DURATION;
        return KRC_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i].name) != 0)
            continue;
        config->reset_policy = names[i].policy;
        return KRC_OK;
    }
    return refuse(row, value, error);
}

/* A name as it is, or of Kafka's class: org.apache.kafka.clients.consumer.RangeAssignor. */
const struct krc_assignor *krc_next_assignor(const char **text, struct krc_bytes *name)
{
    static const char package[] = "org.apache.kafka.clients.consumer.";
    static const struct {
        const char *class, *name;
    } classes[] = {{"RangeAssignor", "range"},
                   {"RoundRobinAssignor", "roundrobin"},
                   {"StickyAssignor", "sticky"},
                   {"CooperativeStickyAssignor", "cooperative-sticky"}};
    *text += strspn(*text, ", ");
    size_t len = strcspn(*text, ", "), prefix = sizeof package - 1;
    *name = (struct krc_bytes){(const uint8_t *)*text, len};
    const char *class = len > prefix && memcmp(*text, package, prefix) == 0 ? *text + prefix : NULL;
    *text += len;
    for (size_t i = 0; class != NULL && i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].class) == len - prefix &&
            memcmp(classes[i].class, class, len - prefix) == 0)
            return krc_assignor_find((struct krc_bytes){(const uint8_t *)classes[i].name,
                                                        strlen(classes[i].name)});
    return krc_assignor_find(*name);
}

int krc_value_assignors(krc_config *config, const struct krc_row *row, const char *value,
                        krc_error *error)
{
    (void)config;
    int count = 0;
    for (const char *rest = value; rest[strspn(rest, ", ")] != '\0'; count++) {
        struct krc_bytes name;
        if (krc_next_assignor(&rest, &name) == NULL)
            return krc_fail(error, KRC_E_UNSUPPORTED,
                            "%s: krc has no assignor \"%.*s\", only %s", row->is.name,
                            (int)name.len, (const char *)name.data, row->is.type);
    }
    if (count == 0 || count > KRC_ASSIGNORS_MOST)
        return krc_fail(error, KRC_E_INVALID, "%s has to name one to %d of these: %s",
                        row->is.name, KRC_ASSIGNORS_MOST, row->is.type);
    return KRC_OK;
}
