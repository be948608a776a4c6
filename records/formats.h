/*
 * What the files of this room share behind records.h: one pair of functions for each old format,
 * and the way to the bytes inside a compressed batch.
 */
#ifndef KRC_RECORDS_FORMATS_H
#define KRC_RECORDS_FORMATS_H

#include "records/records.h"

/* Where decompressed bytes go and how many they may be: krc_records_open's arguments. */
struct krc_unpack {
    struct krc_codecs *codecs;
    size_t limit;
    struct krc_buffer *scratch;
};

/* Sets the walk's start and end to `in`, decompressed where the batch is compressed. */
int krc_records_unpack(struct krc_records *records, struct krc_bytes in,
                       const struct krc_unpack *to, krc_error *error) KRC_MUST_USE;

/* Notes one more record that was checked: its offset and timestamp. */
void krc_records_count(struct krc_records *records, int64_t offset, int64_t timestamp);

/* Magic 0 and 1, a message alone or a compressed set. */
int krc_legacy_open(struct krc_records *records, const uint8_t *bytes, const struct krc_unpack *to,
                    krc_error *error) KRC_MUST_USE;
void krc_legacy_next(struct krc_records *records, struct krc_record *record);

/* Kafka 0.7, likewise. */
int krc_legacy_07_open(struct krc_records *records, const uint8_t *bytes,
                       const struct krc_unpack *to, krc_error *error) KRC_MUST_USE;
void krc_legacy_07_next(struct krc_records *records, struct krc_record *record);

#endif
