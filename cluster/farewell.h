/*
 * The last word of a member of a group: its own, or said for one that died.  Once the coordinator
 * has heard it, nothing is taken that this member still has under way.
 */
#ifndef KRC_CLUSTER_FAREWELL_H
#define KRC_CLUSTER_FAREWELL_H

#include "cluster/call.h"

struct krc_farewell {
    struct krc_coordinator *coordinator; /* the group's */
    bool is_classic;
    const char *member_id;   /* has to stay */
    const char *instance_id; /* KIP-848: what is held waits for this one to come back; NULL: it is
                                left for good */
    /* filled in */
    struct krc_call call; /* TOLD: KRC_OK: the coordinator knows no such member any more */
    union {
        struct krc_consumer_group_heartbeat_request consumer;
        struct krc_leave_group_request classic;
    } request;
};

/* The first fields are set, the others zero, or as an earlier use has left them.  Puts the call
 * together, to be begun. */
void krc_farewell_put(struct krc_farewell *farewell);

#endif
