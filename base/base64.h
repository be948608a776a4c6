/*
 * Base64 (RFC 4648, section 4), with padding.
 */
#ifndef KRC_BASE_BASE64_H
#define KRC_BASE_BASE64_H

#include <krc.h>

/* The letters that `len` bytes take. */
static inline size_t krc_base64_size(size_t len)
{
    return (len + 2) / 3 * 4;
}

/* Writes that many and returns their end. */
uint8_t *krc_base64_encode(uint8_t *out, struct krc_bytes in);

/* Writes up to in.len / 4 * 3 bytes.  False: it is not what encoding writes, to the letter: blanks
 * and missing padding are wrong, and so are bits behind the last byte. */
bool krc_base64_decode(uint8_t *out, size_t *len, struct krc_bytes in);

#endif
