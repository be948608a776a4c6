/*
 * The value of "sasl.jaas.config", as Kafka's clients read it:
 *
 *     MODULE FLAG NAME=VALUE NAME="VALUE" NAME='VALUE' ... ;
 *
 * MODULE is a Java class, FLAG one of required, requisite, sufficient, optional.  A word ends in
 * front of a blank or one of = ; " ' / (Kafka's clients have fewer letters in words: all else has
 * to be in quotes).  A text in quotes goes on to the same quote in its line; in it, \a \b \f \n \r
 * \t \v are what they are in C, \0 to \377 (octal) characters of Latin-1, and \c is c for any
 * other.  Between words, // and / begin a comment up to the end of the line, and slash-star one up
 * to star-slash.
 */
#ifndef KRC_CONSUMER_JAAS_H
#define KRC_CONSUMER_JAAS_H

#include "base/buffer.h"

enum { KRC_JAAS_MOST = 16 };

struct krc_jaas {
    const char *module;
    struct {
        const char *name, *value;
    } options[KRC_JAAS_MOST]; /* a name may come again: the last counts */
    size_t count;
    struct krc_buffer text; /* which all of the above lie in; to be wiped */
};

/* KRC_E_INVALID: it is no such text.  The message tells nothing of what is in it, where a secret is
 * too. */
int krc_jaas_parse(struct krc_jaas *jaas, const char *text, krc_error *error) KRC_MUST_USE;

#endif
