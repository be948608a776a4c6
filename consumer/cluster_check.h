/*
 * Which cluster a group's rows in a store were read from: offsets of one mean nothing in another.
 */
#ifndef KRC_CONSUMER_CLUSTER_CHECK_H
#define KRC_CONSUMER_CLUSTER_CHECK_H

#include "consumer/net.h"
#include "logdir/folder.h"
#include "store/store.h"

/* The source that is at hand. */
struct krc_cluster_here {
    const struct krc_net *net; /* NULL: log folders */
    const struct krc_log_places *places;
    bool moved; /* the user says that the topics moved to it */
};

/* Its cluster id; "": unknown. */
const char *krc_cluster_id_here(const struct krc_cluster_here *here);

/* The id of a topic as it is now, all zero where it has none; false: no such partition is known. */
bool krc_topic_id_here(const struct krc_cluster_here *here, const char *topic, int32_t partition,
                       struct krc_uuid *id);

/* 0: they are of this cluster, or its id is not known ("").  1: no cluster is stored for them yet.
 * KRC_E_MISMATCH: they are of another one, whether it moved or not. */
int krc_check_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error) KRC_MUST_USE;

/* Where no cluster is known for them, topic ids may tell: KRC_OK where one is the same here, or
 * there is nothing to compare.  KRC_E_MISMATCH: those that can be compared all differ; or, where
 * `needs_proof`, there are rows of partitions that are here, too, and no id could be compared. */
int krc_compare_topic_ids(struct krc_store *store, const char *group,
                          const struct krc_cluster_here *here, bool needs_proof,
                          krc_error *error) KRC_MUST_USE;

/* The first for who is about to read on, and the second where no cluster is stored yet.  Where the
 * user says that the topics moved, the store is told so, in a transaction. */
int krc_take_cluster(struct krc_store *store, const char *group,
                     const struct krc_cluster_here *here, krc_error *error) KRC_MUST_USE;

/* Between begin and commit: stores the cluster where none is stored yet.  KRC_E_MISMATCH: another
 * process was faster, with another one. */
int krc_claim_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error) KRC_MUST_USE;

#endif
