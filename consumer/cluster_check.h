/*
 * Which cluster a group's rows in a store were read from: offsets of one mean nothing in another.
 */
#ifndef KRC_CONSUMER_CLUSTER_CHECK_H
#define KRC_CONSUMER_CLUSTER_CHECK_H

#include "consumer/config.h"
#include "store/store.h"

/* 0: they are of this cluster, or its id is not known ("").  1: no cluster is stored for them yet.
 * KRC_E_MISMATCH: they are of another one, whether it moved or not. */
int krc_check_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error) KRC_MUST_USE;

/* The same for who is about to read on: where the user says that the topics moved to this cluster
 * ("offset.store.moved.cluster"), the store is told so, in a transaction. */
int krc_take_cluster(struct krc_store *store, const krc_config *config, const char *cluster_id,
                     krc_error *error) KRC_MUST_USE;

/* Between begin and commit: stores the cluster where none is stored yet.  KRC_E_MISMATCH: another
 * process was faster, with another one. */
int krc_claim_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error) KRC_MUST_USE;

#endif
