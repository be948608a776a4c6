/*
 * What a command of the shell's says on its standard output.
 */
#ifndef KRC_SECURITY_TOKEN_COMMAND_H
#define KRC_SECURITY_TOKEN_COMMAND_H

#include <stdatomic.h>

#include "base/buffer.h"

/* Appends up to `most` bytes, and waits until the command has ended, which is killed with what it
 * began after 30 s, or once `*cancelled` (NULL: never).  KRC_E_REFUSED: it fails; KRC_E_TIMEOUT: it
 * was killed; KRC_E_TOO_LARGE; KRC_E_IO: it cannot be begun. */
int krc_command_output(const char *command, const atomic_bool *cancelled, size_t most,
                       struct krc_buffer *out, krc_error *error) KRC_MUST_USE;

#endif
