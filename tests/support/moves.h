/*
 * Counts the bytes that memmove() moves.  Lists that are kept in order may move all of themselves for
 * each entry that comes or goes.  For one file of a program that is linked with --wrap=memmove.
 */
#ifndef KRC_TESTS_MOVES_H
#define KRC_TESTS_MOVES_H

#include <stddef.h>

static size_t moved;

void *__wrap_memmove(void *to, const void *from, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);

void *__wrap_memmove(void *to, const void *from, size_t len)
{
    moved += len;
    return __real_memmove(to, from, len);
}

#endif
