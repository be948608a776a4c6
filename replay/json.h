/*
 * A record as one line of JSON, lossless both ways.
 *
 *   {"topic":…,"partition":…,"offset":…,"timestamp":…,"timestampType":…,"leaderEpoch":…,
 *    "key":…,"value":…,"headers":[{"key":…,"value":…},…]}
 *
 * A byte string that is valid UTF-8 is a JSON string; another goes in base64 under the same name
 * with `Base64` appended; null is null.  With `base64` all go in base64 under the plain name.
 */
#ifndef KRC_REPLAY_JSON_H
#define KRC_REPLAY_JSON_H

#include "base/buffer.h"

/* What all lines of a partition begin with: `{"topic":…,"partition":…,"offset":`. */
int krc_json_prefix(struct krc_buffer *prefix, const char *topic, int32_t partition,
                    krc_error *error) KRC_MUST_USE;

/* Appends a line with its newline. */
int krc_json_line(struct krc_buffer *out, const struct krc_buffer *prefix,
                  const struct krc_record *record, enum krc_timestamp_type type, bool base64,
                  krc_error *error) KRC_MUST_USE;

/* Appends the headers' array alone. */
int krc_json_headers(struct krc_buffer *out, const struct krc_record *record, bool base64,
                     krc_error *error) KRC_MUST_USE;

/* Appends a JSON string with its quotes; `text` is valid UTF-8. */
int krc_json_string(struct krc_buffer *out, struct krc_bytes text,
                    krc_error *error) KRC_MUST_USE;

/* Appends a number in decimal. */
int krc_json_number(struct krc_buffer *out, int64_t number, krc_error *error) KRC_MUST_USE;

/* "CreateTime", "LogAppendTime", "NoTimestampType" */
const char *krc_timestamp_type_name(enum krc_timestamp_type type);

#endif
