/*
 * Text of others, made fit for a terminal.  What is not visible (controls, line and paragraph
 * separators, marks that turn the direction around, characters without a width) and what is not
 * UTF-8 is written as its bytes, \xNN each: so that no host, broker's message or name in a foreign
 * file can move the cursor, forge a line, or look like another name.  A backslash stays as it is,
 * so that text which was made fit stays so.
 */
#ifndef KRC_BASE_PRINTABLE_H
#define KRC_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* As much as fits, whole characters alone, with a NUL at the end; `size` is at least 1.  Returns
 * the length of the whole. */
size_t krc_printable(char *out, size_t size, const void *text, size_t len);

/* A copy to be freed; NULL: out of memory. */
char *krc_printable_copy(const void *text, size_t len);

/* The same in place, in an array of `size` bytes (8192 at most): what does not fit is cut off. */
void krc_make_printable(char *text, size_t size);

/* How many bytes at `text` are one character that is printed as it is; 0: the first is escaped. */
size_t krc_printable_character(const void *text, size_t len);

#endif
