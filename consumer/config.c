#include "consumer/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The table ----------------------------------------------------------------------------- */

typedef int parse_fn(krc_config *config, size_t property, const char *value, krc_error *error);

static parse_fn parse_log_dirs, parse_text, parse_choice, parse_bytes, parse_reset;

static const struct property {
    struct krc_property is;
    parse_fn *parse;
    size_t field;         /* offset in krc_config */
    int64_t least, most;  /* parse_bytes */
    const char *choices;  /* parse_choice: in the order of their values, a blank between */
} properties[] = {
#define FIELD(name) offsetof(krc_config, name)
    {{"auto.offset.reset", "nearest, earliest, latest, none, error, by_duration:DURATION",
      "nearest",
      "where to go on when the committed offset is not in the log, or there is none: nearest is "
      "the log start for an offset below it, and for one beyond the end the place where the "
      "histories diverge; none (also error) stops"},
     parse_reset, FIELD(reset_policy), 0, 0, NULL},
    {{"commit.interval.bytes", "bytes", "4194304",
      "replay commits at the end of the batch with which so much output has come together"},
     parse_bytes, FIELD(commit_interval_bytes), 1, INT64_MAX, NULL},
    {{"decompressed.batch.max.bytes", "bytes", "268435456",
      "a batch that decompresses to more is an error, and the position holds in front of it"},
     parse_bytes, FIELD(max_decompressed_bytes), 1, INT32_MAX, NULL},
    {{"group.id", "text", "",
      "whose committed offsets; the rows of an offset store are named by it, \"default\" where it "
      "is empty"},
     parse_text, FIELD(group_id), 0, 0, NULL},
    {{"isolation.level", "read_committed, read_uncommitted", "read_committed",
      "read_committed leaves out aborted transactions and ends at the last stable offset"},
     parse_choice, FIELD(read_uncommitted), 0, 0, "read_committed read_uncommitted"},
    {{"log.dirs", "paths, a comma between", "",
      "data folders to read: a broker's, one TOPIC-PARTITION folder, or one .log file"},
     parse_log_dirs, 0, 0, 0, NULL},
    {{"log.format", "current, 0.7", "current",
      "0.7: the folders hold Kafka 0.7 logs, which do not say so themselves"},
     parse_choice, FIELD(format_07), 0, 0, "current 0.7"},
    {{"offset.store.file", "path", "", "the SQLite file that keeps committed offsets"},
     parse_text, FIELD(store_file), 0, 0, NULL},
    {{"receive.message.max.bytes", "bytes", "100000000",
      "a batch that is larger as stored is an error, and the position holds in front of it"},
     parse_bytes, FIELD(max_message_bytes), 1024, INT32_MAX, NULL},
    {{"skip.corrupt.batches", "false, true", "false",
      "true: go past a batch that fails its checks, and count its offsets as skipped"},
     parse_choice, FIELD(skip_corrupt), 0, 0, "false true"},
#undef FIELD
};

enum { PROPERTY_COUNT = sizeof properties / sizeof *properties };

bool krc_config_property(size_t i, struct krc_property *property)
{
    if (i >= PROPERTY_COUNT)
        return false;
    *property = properties[i].is;
    return true;
}

/* ---- Values -------------------------------------------------------------------------------- */

static int64_t *number_field(krc_config *config, size_t property)
{
    return (int64_t *)(void *)((char *)config + properties[property].field);
}

static int refuse(size_t property, const char *value, krc_error *error)
{
    const struct krc_property *is = &properties[property].is;
    return krc_fail(error, KRC_E_INVALID, "%s cannot be \"%s\": it is one of: %s", is->name, value,
                    is->type);
}

static int parse_text(krc_config *config, size_t property, const char *value, krc_error *error)
{
    char **field = (char **)(void *)((char *)config + properties[property].field);
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free(*field);
    *field = copy;
    return KRC_OK;
}

static int parse_choice(krc_config *config, size_t property, const char *value, krc_error *error)
{
    int64_t number = 0;
    size_t len = strlen(value);
    for (const char *p = properties[property].choices; *p != '\0'; number++) {
        size_t n = strcspn(p, " ");
        if (n == len && memcmp(p, value, n) == 0) {
            *number_field(config, property) = number;
            return KRC_OK;
        }
        p += n + (p[n] == ' ');
    }
    return refuse(property, value, error);
}

static int parse_bytes(krc_config *config, size_t property, const char *value, krc_error *error)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    const struct property *p = &properties[property];
    if (end == value || *end != '\0' || errno != 0 || number < p->least || number > p->most)
        return krc_fail(error, KRC_E_INVALID,
                        "%s cannot be \"%s\": it is a number of bytes from %lld to %lld",
                        p->is.name, value, (long long)p->least, (long long)p->most);
    *number_field(config, property) = number;
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

static int parse_reset(krc_config *config, size_t property, const char *value, krc_error *error)
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
                            properties[property].is.name, value);
        config->reset_policy = KRC_RESET_BY_DURATION;
        return KRC_OK;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(value, names[i].name) != 0)
            continue;
        config->reset_policy = names[i].policy;
        return KRC_OK;
    }
    return refuse(property, value, error);
}

static void free_log_dirs(krc_config *config)
{
    for (size_t i = 0; i < config->log_dir_count; i++)
        free(config->log_dirs[i]);
    free(config->log_dirs);
    config->log_dirs = NULL;
    config->log_dir_count = 0;
}

static int add_log_dir(krc_config *config, const char *path, size_t len, krc_error *error)
{
    size_t size = (config->log_dir_count + 1) * sizeof *config->log_dirs;
    char **dirs = realloc(config->log_dirs, size);
    if (dirs == NULL)
        return krc_fail_nomem(error, size);
    config->log_dirs = dirs;
    char *copy = strndup(path, len);
    if (copy == NULL)
        return krc_fail_nomem(error, len + 1);
    dirs[config->log_dir_count++] = copy;
    return KRC_OK;
}

static int parse_log_dirs(krc_config *config, size_t property, const char *value, krc_error *error)
{
    (void)property;
    free_log_dirs(config);
    while (*value != '\0') {
        size_t len = strcspn(value, ",");
        if (len > 0)
            KRC_TRY(add_log_dir(config, value, len, error));
        value += len + (value[len] == ',');
    }
    return KRC_OK;
}

int krc_config_add_log_dir(krc_config *config, const char *path, krc_error *error)
{
    if (*path == '\0')
        return krc_fail(error, KRC_E_INVALID, "a log folder's path is empty");
    return add_log_dir(config, path, strlen(path), error);
}

/* ---- Names --------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance: how many letters to insert, remove or exchange; none where `b` begins
 * with all of `a`. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64];
    if (a[0] != '\0' && strncmp(a, b, strlen(a)) == 0)
        return 0;
    size_t len = least(strlen(b), 63);
    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < len; j++) {
            size_t exchanged = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(exchanged, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[len];
}

static int unknown(const char *name, krc_error *error)
{
    size_t nearest = 0;
    for (size_t i = 1; i < PROPERTY_COUNT; i++)
        if (distance(name, properties[i].is.name) < distance(name, properties[nearest].is.name))
            nearest = i;
    return krc_fail(error, KRC_E_INVALID, "there is no property \"%s\"; the nearest is %s", name,
                    properties[nearest].is.name);
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < PROPERTY_COUNT && strcmp(properties[i].is.name, name) != 0)
        i++;
    return i;
}

int krc_config_set(krc_config *config, const char *name, const char *value, krc_error *error)
{
    size_t i = find(name);
    if (i == PROPERTY_COUNT)
        return unknown(name, error);
    KRC_TRY(properties[i].parse(config, i, value, error));
    char *copy = strdup(value);
    if (copy == NULL)
        return krc_fail_nomem(error, strlen(value) + 1);
    free(config->texts[i]);
    config->texts[i] = copy;
    return KRC_OK;
}

const char *krc_config_get(const krc_config *config, const char *name)
{
    size_t i = find(name);
    return i == PROPERTY_COUNT || config->texts[i][0] == '\0' ? NULL : config->texts[i];
}

/* ---- The whole ----------------------------------------------------------------------------- */

krc_config *krc_config_new(void)
{
    krc_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return NULL;
    config->texts = calloc(PROPERTY_COUNT, sizeof *config->texts);
    if (config->texts == NULL)
        goto failed;
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (krc_config_set(config, properties[i].is.name, properties[i].is.default_value, NULL) < 0)
            goto failed;
    return config;
failed:
    krc_config_free(config);
    return NULL;
}

krc_config *krc_config_copy(const krc_config *config)
{
    krc_config *copy = krc_config_new();
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < PROPERTY_COUNT; i++)
        if (krc_config_set(copy, properties[i].is.name, config->texts[i], NULL) < 0)
            goto failed;
    free_log_dirs(copy); /* "log.dirs" as text knows nothing of paths with a comma */
    for (size_t i = 0; i < config->log_dir_count; i++)
        if (krc_config_add_log_dir(copy, config->log_dirs[i], NULL) < 0)
            goto failed;
    return copy;
failed:
    krc_config_free(copy);
    return NULL;
}

void krc_config_free(krc_config *config)
{
    if (config == NULL)
        return;
    free_log_dirs(config);
    free(config->group_id);
    free(config->store_file);
    for (size_t i = 0; config->texts != NULL && i < PROPERTY_COUNT; i++)
        free(config->texts[i]);
    free(config->texts);
    free(config);
}
