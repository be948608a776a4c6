/*
 * Lists of brokers: HOST:PORT[,HOST:PORT]...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "consumer/config.h"

/* One entry, as it stands in the list; `host` without brackets. */
struct entry {
    const char *text, *host, *port;
    size_t len, host_len;
};

static int refuse(const struct entry *entry, krc_error *error, const char *why)
{
    return krc_fail(error, KRC_E_INVALID, "bootstrap.servers: \"%.*s\" %s", (int)entry->len,
                    entry->text, why);
}

/* Whether it is an IPv6 address without brackets, so that nobody knows where the port begins. */
static bool is_bare_address(const struct entry *entry)
{
    const char *colon = memchr(entry->text, ':', entry->len);
    return strspn(entry->text, "0123456789abcdefABCDEF:.") >= entry->len && colon != NULL &&
           memchr(colon + 1, ':', entry->len - (size_t)(colon + 1 - entry->text)) != NULL;
}

/* Finds the host, and the colon behind it. */
static int split(struct entry *entry, krc_error *error)
{
    if (is_bare_address(entry))
        return refuse(entry, error, "needs brackets around the address: [::1]:9092");
    bool bracketed = entry->text[0] == '[';
    entry->host = entry->text + bracketed;
    entry->host_len = strspn(entry->host, bracketed ? KRC_NAME_LETTERS ":%" : KRC_NAME_LETTERS);
    const char *behind = entry->host + entry->host_len, *end = entry->text + entry->len;
    if (bracketed && (behind == end || *behind++ != ']'))
        return refuse(entry, error, "has no address in its brackets: give [ADDRESS]:PORT");
    if (entry->host_len == 0)
        return refuse(entry, error, "has no host: give HOST:PORT");
    if (entry->host_len > KRC_HOST_NAME_MAX)
        return refuse(entry, error, "has a longer host than there can be");
    if (behind == end)
        return refuse(entry, error, "has no port: give HOST:PORT; most brokers listen at 9092");
    if (*behind != ':')
        return refuse(entry, error, "is not HOST:PORT");
    entry->port = behind + 1;
    return KRC_OK;
}

/* The port, or an error. */
static int parse_port(const struct entry *entry, krc_error *error)
{
    size_t left = (size_t)(entry->text + entry->len - entry->port);
    bool is_number = left > 0 && left <= 5 && strspn(entry->port, "0123456789") >= left;
    long port = is_number ? strtol(entry->port, NULL, 10) : 0;
    if (port < 1 || port > KRC_PORT_MAX)
        return refuse(entry, error, "has no port from 1 to 65535");
    return (int)port;
}

static int take(struct entry *entry, krc_server_fn *each, void *arg, krc_error *error)
{
    char host[KRC_HOST_NAME_MAX + 1];
    KRC_TRY(split(entry, error));
    int port = parse_port(entry, error);
    if (port < 0)
        return port;
    snprintf(host, sizeof host, "%.*s", (int)entry->host_len, entry->host);
    return each == NULL ? 0 : each(arg, host, (uint16_t)port);
}

int krc_parse_servers(const char *text, krc_server_fn *each, void *arg, krc_error *error)
{
    static const char between[] = ", \t\r\n";
    struct entry entry = {.text = text + strspn(text, between)};
    if (*text != '\0' && *entry.text == '\0')
        return krc_fail(error, KRC_E_INVALID, "bootstrap.servers: \"%s\" names no broker", text);
    for (; *entry.text != '\0'; entry.text += strspn(entry.text, between)) {
        entry.len = strcspn(entry.text, between);
        int rc = take(&entry, each, arg, error);
        if (rc != 0)
            return rc;
        entry.text += entry.len;
    }
    return KRC_OK;
}
