/*
 * A file that only grows, by commits: what lies behind the last committed length is cut away when
 * it is opened again.
 */
#ifndef KRC_REPLAY_OUTFILE_H
#define KRC_REPLAY_OUTFILE_H

#include "records/compress.h"

struct krc_outfile {
    int fd; /* -1: closed */
    int folder; /* the folder's descriptor, borrowed */
    bool is_new; /* its folder entry is not on disk yet */
    int64_t length; /* written so far */
    struct krc_compressor compressor; /* codec KRC_NONE: bytes go out as they are */
    struct krc_buffer plain;  /* to be written, or compressed first */
    struct krc_buffer packed;
    bool frame_open;
    char path[4096]; /* for messages */
};

void krc_outfile_init(struct krc_outfile *out, int codec);
void krc_outfile_free(struct krc_outfile *out); /* what was not committed is dropped */

/* Opens FOLDER/NAME at its committed `length`, 0 for a new file.  KRC_E_CORRUPT: the file is
 * shorter than that, or gone. */
int krc_outfile_open(struct krc_outfile *out, int folder, const char *folder_path,
                     const char *name, int64_t length, krc_error *error) KRC_MUST_USE;
void krc_outfile_close(struct krc_outfile *out);

/* Output is appended to `plain`; krc_outfile_spill hands on what has come together there. */
int krc_outfile_spill(struct krc_outfile *out, krc_error *error) KRC_MUST_USE;

/* Hands it on, however little it is, and gives memory back that is not in use.  A compressor gets
 * nothing: what it makes depends on how much it gets at a time. */
int krc_outfile_rest(struct krc_outfile *out, krc_error *error) KRC_MUST_USE;

/* All of it is on disk, the last frame ended, the folder entry too; `length` is what to commit. */
int krc_outfile_flush(struct krc_outfile *out, krc_error *error) KRC_MUST_USE;

#endif
