/*
 * The broker's side of the wire: requests read, responses written.
 */
#ifndef KRC_TESTS_FRAMES_H
#define KRC_TESTS_FRAMES_H

#include "protocol/api.h"

struct frame_request {
    enum krc_api_name api;
    int16_t version;
    int32_t correlation_id;
    struct krc_bytes client_id;
    void *body; /* the API's request struct */
};

/* Reads a request frame without its size.  Views lead into `frame`, the body and its arrays into
 * `arena`.  KRC_E_UNSUPPORTED: no such API or version; else as krc_response_read. */
int frame_read_request(const uint8_t *frame, size_t len, struct frame_request *request,
                       struct krc_arena *arena) KRC_MUST_USE;

/* Appends a whole response frame, its size before it.  What the version cannot carry fails the
 * test. */
void frame_write_response(struct krc_buffer *out, enum krc_api_name api, int16_t version,
                          int32_t correlation_id, const void *response);

#endif
