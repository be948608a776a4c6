/*
 * Ids of topics as text: 22 letters of base64url (RFC 4648, section 5), without padding.
 */
#ifndef KRC_BASE_UUID_H
#define KRC_BASE_UUID_H

#include <krc.h>

enum { KRC_UUID_LETTERS = 22 };

/* False: these letters are no id. */
bool krc_uuid_parse(const char letters[KRC_UUID_LETTERS], struct krc_uuid *id);

/* Ends with a NUL. */
void krc_uuid_format(const struct krc_uuid *id, char text[KRC_UUID_LETTERS + 1]);

#endif
