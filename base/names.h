/*
 * Names that come from outside, judged where they come in: those of topics become parts of paths,
 * those of hosts are looked up and connected to.
 */
#ifndef KRC_BASE_NAMES_H
#define KRC_BASE_NAMES_H

#include <krc.h>

/* Letters that a topic's name and a host's may have. */
#define KRC_NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

enum { KRC_TOPIC_NAME_MAX = 249, KRC_HOST_NAME_MAX = 255, KRC_PORT_MAX = 65535 };

/* Kafka's rule: 1 to 249 of these letters, and neither "." nor "..". */
bool krc_is_topic_name(const void *name, size_t len);

/* KRC_E_INVALID, with the rule. */
int krc_check_topic_name(const char *name, krc_error *error) KRC_MUST_USE;

/* A host's name, or an IPv6 address without brackets, to which a zone may be added (fe80::1%eth0);
 * and a port that can be connected to. */
bool krc_is_address(const void *host, size_t len, int32_t port);

#endif
