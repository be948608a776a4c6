/*
 * A folder under /tmp (or $TMPDIR) for one test, and files in it.  Paths that are given are below
 * it; what cannot be done fails the test.
 */
#ifndef KRC_TESTS_TEMPDIR_H
#define KRC_TESTS_TEMPDIR_H

#include "base/buffer.h"

void tempdir_make(void);
void tempdir_remove(void); /* with all that is in it */

/* The whole path, valid for the next few calls. */
const char *tempdir_path(const char *format, ...) KRC_PRINTF(1, 2);

void tempdir_mkdir(const char *path);
void tempdir_write(const char *path, const void *data, size_t len);
void tempdir_write_text(const char *path, const char *text);
struct krc_buffer tempdir_read(const char *path);

/* Copies the files of a folder (not those below it), from where the tests run. */
void tempdir_copy(const char *from, const char *to);

#endif
