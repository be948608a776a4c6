/*
 * Bytes that hold certificates and keys: a file's, a folder's, or a property's text.
 */
#ifndef KRC_SECURITY_KEYFILE_H
#define KRC_SECURITY_KEYFILE_H

#include "base/buffer.h"

enum { KRC_KEYFILE_MOST = 4 << 20 };

struct krc_keyfile {
    const char *property; /* where it is named */
    char name[320];       /* what messages call it */
    struct krc_buffer bytes;
    bool is_pkcs12;       /* PEM otherwise */
};

/* A file, or all files of a folder, which are PEM.  `type` "": it is seen from what is in it.
 * KRC_E_NOT_FOUND, KRC_E_IO; KRC_E_TOO_LARGE: over KRC_KEYFILE_MOST; KRC_E_UNSUPPORTED: a JKS
 * store. */
int krc_keyfile_read(struct krc_keyfile *file, const char *property, const char *path,
                     const char *type, krc_error *error) KRC_MUST_USE;

/* PEM text, and more of it, which may be "".  Their lines may have been joined. */
int krc_keyfile_text(struct krc_keyfile *file, const char *property, const char *first,
                     const char *second, krc_error *error) KRC_MUST_USE;

/* Wiped and freed. */
void krc_keyfile_forget(struct krc_keyfile *file);

#endif
