/*
 * Calls of a cluster that are made at once.
 */
#ifndef KRC_ADMIN_CALLS_H
#define KRC_ADMIN_CALLS_H

#include "consumer/net.h"

/*
 * Makes them, and waits until all are told, or no longer.  What became of each is in its `rc`,
 * KRC_E_TIMEOUT for one that was still to be asked again.  An error: nobody has answered any.
 */
int krc_make_calls(struct krc_net *net, struct krc_call *calls, size_t count,
                   krc_error *error) KRC_MUST_USE;

#endif
