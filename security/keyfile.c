#include "security/keyfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

/* ---- Files ---------------------------------------------------------------------------------- */

/* Into room that is there: a buffer that grows would leave copies of a key behind. */
static int read_to_end(struct krc_keyfile *file, int fd, const char *path, krc_error *error)
{
    struct krc_buffer *bytes = &file->bytes;
    ssize_t n;
    while ((n = read(fd, bytes->data + bytes->len, bytes->capacity - bytes->len)) > 0)
        bytes->len += (size_t)n;
    if (n < 0)
        return krc_fail_errno(error, "%s: cannot read %s", file->property, path);
    if (bytes->len > KRC_KEYFILE_MOST)
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "%s: with %s it is more than %d bytes, which are not certificates alone",
                        file->property, path, KRC_KEYFILE_MOST);
    return KRC_OK;
}

static int read_file(struct krc_keyfile *file, const char *path, krc_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return krc_fail_errno(error, "%s: cannot open %s", file->property, path);
    int rc = read_to_end(file, fd, path, error);
    close(fd);
    return rc;
}

/* One file behind the other. */
static int read_folder(struct krc_keyfile *file, DIR *folder, const char *path, krc_error *error)
{
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[PATH_MAX];
        struct stat st;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) >= (int)sizeof name ||
            stat(name, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        KRC_TRY(read_file(file, name, error));
        KRC_TRY(krc_buffer_append(&file->bytes, "\n", 1, error));
    }
    return KRC_OK;
}

/* A store's first bytes tell its kind: JKS has a magic number, PKCS12 is a DER sequence. */
static int know_kind(struct krc_keyfile *file, const char *path, const char *type,
                     krc_error *error)
{
    enum { DER_SEQUENCE = 0x30 };
    static const uint8_t jks[4] = {0xfe, 0xed, 0xfe, 0xed};
    const struct krc_buffer *bytes = &file->bytes;
    if (bytes->len >= sizeof jks && memcmp(bytes->data, jks, sizeof jks) == 0)
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "%s is a JKS store, which only Java reads: convert it with keytool "
                        "-importkeystore -srckeystore %s -destkeystore %s.p12 -deststoretype "
                        "PKCS12",
                        file->name, path, path);
    if (strcmp(type, "PEM") == 0 || strcmp(type, "PKCS12") == 0)
        file->is_pkcs12 = strcmp(type, "PKCS12") == 0;
    else
        file->is_pkcs12 = bytes->len > 0 && bytes->data[0] == DER_SEQUENCE;
    return KRC_OK;
}

int krc_keyfile_read(struct krc_keyfile *file, const char *property, const char *path,
                     const char *type, krc_error *error)
{
    file->property = property;
    snprintf(file->name, sizeof file->name, "%s: %s", property, path);
    KRC_TRY(krc_buffer_reserve(&file->bytes, KRC_KEYFILE_MOST + 2, error));
    DIR *folder = opendir(path);
    if (folder != NULL) {
        int rc = read_folder(file, folder, path, error);
        closedir(folder);
        return rc;
    }
    KRC_TRY(read_file(file, path, error));
    return know_kind(file, path, type, error);
}

/* ---- Texts ---------------------------------------------------------------------------------- */

/* Of "-----BEGIN A LABEL-----", with the dashes behind it; 0: none begins here. */
static size_t label_length(const char *at)
{
    if (strncmp(at, "-----", 5) != 0)
        return 0;
    const char *end = strstr(at + 5, "-----");
    return end != NULL ? (size_t)(end + 5 - at) : 0;
}

/*
 * In one line, blanks or nothing stand where lines ended:
 *
 *     -----BEGIN CERTIFICATE----- MIIB... ... -----END CERTIFICATE-----
 *
 * Labels get lines of their own, and what is between them lines of 64 at the most.  A text that
 * has lines stays as it is.
 */
static int append_lines(struct krc_buffer *to, const char *text, krc_error *error)
{
    enum { LINE = 64 };
    if (strchr(text, '\n') != NULL)
        KRC_TRY(krc_buffer_append(to, text, strlen(text), error));
    else
        for (const char *at = text + strspn(text, " \t"); *at != '\0'; at += strspn(at, " \t")) {
            size_t len = label_length(at);
            if (len == 0)
                len = 1 + strcspn(at + 1, " \t-");
            if (*at != '-' && len > LINE)
                len = LINE;
            KRC_TRY(krc_buffer_append(to, at, len, error));
            KRC_TRY(krc_buffer_append(to, "\n", 1, error));
            at += len;
        }
    return krc_buffer_append(to, "\n", 1, error);
}

int krc_keyfile_text(struct krc_keyfile *file, const char *property, const char *first,
                     const char *second, krc_error *error)
{
    file->property = property;
    snprintf(file->name, sizeof file->name, "%s", property);
    /* each line has a letter at least */
    KRC_TRY(krc_buffer_reserve(&file->bytes, 2 * (strlen(first) + strlen(second) + 1), error));
    KRC_TRY(append_lines(&file->bytes, first, error));
    return append_lines(&file->bytes, second, error);
}

void krc_keyfile_forget(struct krc_keyfile *file)
{
    krc_buffer_wipe(&file->bytes);
}
