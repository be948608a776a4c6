/*
 * What the files of a member (cluster/member.h) need of each other.
 */
#ifndef KRC_CLUSTER_MEMBER_PARTS_H
#define KRC_CLUSTER_MEMBER_PARTS_H

#include "cluster/member.h"

/* Puts a request together, and sends it. */
void krc_member_beat_consumer(struct krc_membership *member);
void krc_member_join_classic(struct krc_membership *member);
void krc_member_sync_classic(struct krc_membership *member);
void krc_member_beat_classic(struct krc_membership *member);

void krc_member_unsubscribe(struct krc_membership *member);

/* Classic: whether metadata has what has to be matched; and matches: whether there is more to be
 * subscribed to than before.  A topic that is gone stays one. */
bool krc_member_knows_topics(const struct krc_membership *member);
bool krc_member_find_topics(struct krc_membership *member);

/* Whether what is held is kept while the next generation begins. */
bool krc_member_is_cooperative(const struct krc_membership *member);

/* The leader: whether partitions were added or topics made since it assigned. */
bool krc_member_plan_is_old(const struct krc_membership *member);

void krc_member_send(struct krc_membership *member, enum krc_api_name api, const void *request,
                    int64_t wait_ms, krc_call_taker *take);

/* Copies; false: out of memory. */
bool krc_member_name_us(struct krc_membership *member, struct krc_bytes member_id);

/* We are to be somebody else. */
void krc_member_forget_name(struct krc_membership *member);

/* Replaces the newest assignment by an empty one with room; then adds to it.  false: out of
 * memory. */
bool krc_member_assign_anew(struct krc_membership *member, size_t count);
bool krc_member_assign(struct krc_membership *member, struct krc_bytes name,
                       const struct krc_uuid *id, int32_t partition);

void krc_member_forget_assignment(struct krc_membership *member);

/* Says of what is held whether the newest assignment has it. */
void krc_member_mark_assigned(struct krc_membership *member);

/* What the newest assignment means: ASSIGNED or REVOKED. */
enum krc_member_event krc_member_judge_assignment(struct krc_membership *member);

/* Of a coordinator that will not have us. */
void krc_member_deny(struct krc_membership *member, int16_t code, struct krc_bytes message);

#endif
