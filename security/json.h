/*
 * One text out of a JSON document (RFC 8259), as servers say why they refuse, or give a token.
 */
#ifndef KRC_SECURITY_JSON_H
#define KRC_SECURITY_JSON_H

#include <krc.h>

/* Finds the string NAME of the document's object, not of objects within, and writes it with a NUL
 * behind it.  What JSON has as \u is a question mark, unless it is ASCII.  False: there is none, it
 * does not fit into `size` bytes, has a NUL in it, or this is no object. */
bool krc_json_text(struct krc_bytes json, const char *name, char *text, size_t size);

#endif
