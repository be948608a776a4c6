/*
 * Errors: a code is returned, the sentence and the place go into a krc_error.
 */
#ifndef KRC_BASE_ERROR_H
#define KRC_BASE_ERROR_H

#include <stdlib.h>

#include <krc.h>

/* Returns from the caller what `expr` returned, where that is an error. */
#define KRC_TRY(expr)             \
    do {                          \
        int krc_try_rc_ = (expr); \
        if (krc_try_rc_ < 0)      \
            return krc_try_rc_;   \
    } while (0)

/* Says what went wrong and returns `code`.  `error` may be NULL.  The place is reset to "none".
 * Whatever is put into the sentence, it is fit for a terminal (base/printable.h). */
int krc_fail(krc_error *error, int code, const char *format, ...) KRC_PRINTF(3, 4);

/* The same for a failed system call: adds errno's text; ENOSPC and EDQUOT become KRC_E_NO_SPACE,
 * ENOENT KRC_E_NOT_FOUND, ENOMEM KRC_E_NOMEM, everything else KRC_E_IO. */
int krc_fail_errno(krc_error *error, const char *format, ...) KRC_PRINTF(2, 3);

/* Inline, so that compilers see that it returns an error: they warn of results that a failed call
 * leaves uninitialised where they cannot rule out that its caller goes on. */
static inline int krc_fail_nomem(krc_error *error, size_t bytes)
{
    (void)krc_fail(error, KRC_E_NOMEM, "out of memory: no %zu bytes to be had", bytes);
    return KRC_E_NOMEM;
}

/* What a public function returns.  In all builds but the release one a negative code that nothing
 * was said of ends the process. */
static inline int krc_said(int rc, const krc_error *error)
{
#ifdef KRC_CHECKED
    if (rc < 0 && error != NULL && (error->code != rc || error->message[0] == '\0'))
        abort();
#endif
    (void)error;
    return rc;
}

/* Puts "where: " before the sentence of an error, whose code and place stay. */
void krc_error_in(krc_error *error, const char *format, ...) KRC_PRINTF(2, 3);

/* Adds the place to an error that has none yet. */
void krc_error_at(krc_error *error, const char *topic, int32_t partition, int64_t offset,
                  int64_t file_position);

#endif
