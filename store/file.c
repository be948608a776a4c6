/*
 * The store's file, as the file system has it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/bytes.h"
#include "store/private.h"

#define HEADER_BYTES 100

/*
 * The first bytes through SQLite's own file layer.  With open(2) and close(2), the close would
 * drop the POSIX locks that another connection of this process holds on the same file.
 */
static int read_header(const char *path, uint8_t header[HEADER_BYTES], sqlite3_int64 *size)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    char *name = calloc(1, (size_t)vfs->mxPathname + 1);
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    sqlite3_filename full = NULL;
    int rc = SQLITE_NOMEM;
    if (name == NULL || file == NULL)
        goto out;
    rc = vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, name);
    if (rc != SQLITE_OK && rc != SQLITE_OK_SYMLINK)
        goto out;
    full = sqlite3_create_filename(name, "", "", 0, NULL);
    rc = full == NULL ? SQLITE_NOMEM
                      : vfs->xOpen(vfs, full, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB,
                                   NULL);
    if (rc != SQLITE_OK)
        goto out;
    rc = file->pMethods->xFileSize(file, size);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xRead(file, header, HEADER_BYTES, 0);
    file->pMethods->xClose(file);
out:
    sqlite3_free_filename(full);
    free(file);
    free(name);
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

/* Whether FILE-suffix exists and has bytes. */
static bool companion_has_bytes(const char *path, const char *suffix)
{
    char name[4096];
    struct stat st;
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    return len > 0 && (size_t)len < sizeof name && stat(name, &st) == 0 && st.st_size > 0;
}

bool krc_store_has_log(const char *path)
{
    return companion_has_bytes(path, "-wal");
}

/*
 * SQLite's header, numbers big-endian:
 *      0  "SQLite format 3\0"
 *     16  page size uint16, 1 means 65536
 *     24  change counter uint32
 *     28  pages uint32, valid where the number at 92 equals the change counter
 *     60  user_version uint32: here the schema's
 *     68  application_id uint32
 *     92  change counter for which "pages" is valid uint32
 */
static int check_owner(const char *path, const uint8_t *header, int64_t size, krc_error *error)
{
    uint32_t version = krc_be32(header + 60);
    if (size < HEADER_BYTES || memcmp(header, "SQLite format 3", 16) != 0)
        return krc_fail(error, KRC_E_STORE,
                        "%s is no offset store: it is not even a SQLite file; it was left as it "
                        "is, name another file", path);
    if (krc_be32(header + 68) != KRC_STORE_APPLICATION_ID)
        return krc_fail(error, KRC_E_STORE,
                        "%s is a SQLite file of another program; it was left as it is, name "
                        "another file for the offset store", path);
    if (version > KRC_STORE_SCHEMA_VERSION)
        return krc_fail(error, KRC_E_STORE,
                        "the offset store %s was made by a newer krc: its tables are version %u, "
                        "this krc knows %d; it was left as it is, use the newer krc",
                        path, version, KRC_STORE_SCHEMA_VERSION);
    return KRC_OK;
}

/* 1: whole as far as its header tells.  0: cut off while it was made. */
static int check_size(const char *path, const uint8_t *header, int64_t size, krc_error *error)
{
    uint32_t page_size = krc_be16(header + 16) == 1 ? 65536 : krc_be16(header + 16);
    uint32_t pages = krc_be32(header + 28), version = krc_be32(header + 60);
    bool pages_valid = krc_be32(header + 24) == krc_be32(header + 92);
    bool is_short = pages_valid && size < (int64_t)pages * page_size;
    if (version >= 1 && (!is_short || krc_store_has_log(path)))
        return 1;
    if (is_short && companion_has_bytes(path, "-journal"))
        return 0;
    return krc_fail(error, KRC_E_STORE,
                    "the offset store %s is damaged: it has %lld bytes, its header says "
                    "%lld; it was left as it is, restore it from a copy",
                    path, (long long)size, (long long)pages * page_size);
}

int krc_store_examine(const char *path, krc_error *error)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT ? 0 : krc_fail_errno(error, "cannot read the offset store %s", path);
    if (!S_ISREG(st.st_mode))
        return krc_fail(error, KRC_E_STORE, "%s is no file: name a file for the offset store",
                        path);
    if (st.st_size == 0)
        return 0;
    uint8_t header[HEADER_BYTES] = {0};
    sqlite3_int64 size = 0;
    errno = 0;
    int rc = read_header(path, header, &size);
    if (rc == SQLITE_NOMEM)
        return krc_fail_nomem(error, HEADER_BYTES);
    if (rc != SQLITE_OK)
        return krc_fail_errno(error, "cannot read the offset store %s", path);
    /* The making of it was cut off: SQLite rolls that back, by the journal, to an empty file. */
    if (header[0] == 0 && companion_has_bytes(path, "-journal"))
        return 0;
    KRC_TRY(check_owner(path, header, size, error));
    return check_size(path, header, size, error);
}

char *krc_store_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static const struct {
    unsigned long f_type;
    const char *name;
} network_file_systems[] = {
    {0x00006969, "NFS"},  {0x0000517b, "SMB"},   {0xff534d42, "CIFS"},   {0xfe534d42, "SMB"},
    {0x01021997, "9p"},   {0x5346414f, "AFS"},   {0x6b414653, "AFS"},    {0x00c36400, "Ceph"},
    {0x73757245, "Coda"}, {0x0000564c, "NCP"},   {0x0bd00bd0, "Lustre"}, {0x7461636f, "OCFS2"},
    {0x01161970, "GFS2"}, {0x47504653, "GPFS"},
};

/* FUSE carries local ones too, such as a container's overlay. */
static const char *const network_fuse_types[] = {
    "sshfs", "s3fs", "glusterfs", "rclone", "davfs", "gcsfuse", "goofys", "mfs", "curlftpfs",
};

const char *krc_store_network_file_system(unsigned long f_type, const char *fuse_type)
{
    for (size_t i = 0; i < sizeof network_file_systems / sizeof *network_file_systems; i++)
        if (network_file_systems[i].f_type == (f_type & 0xffffffff))
            return network_file_systems[i].name;
    if (f_type != 0x65735546 || fuse_type == NULL || strncmp(fuse_type, "fuse.", 5) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof network_fuse_types / sizeof *network_fuse_types; i++)
        if (strcmp(network_fuse_types[i], fuse_type + 5) == 0)
            return network_fuse_types[i];
    return NULL;
}

/* The type of the file system on a device: "36 35 98:0 / /mnt opts... - TYPE source opts". */
static void mounted_type(dev_t device, char type[64])
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    type[0] = '\0';
    while (file != NULL && getline(&line, &capacity, file) >= 0) {
        unsigned major_number, minor_number;
        const char *dash = strstr(line, " - ");
        if (dash != NULL && sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) == 2 &&
            makedev(major_number, minor_number) == device)
            sscanf(dash, " - %63s", type);
    }
    free(line);
    if (file != NULL)
        fclose(file);
}

int krc_store_require_local(const char *path, krc_error *error)
{
    char *folder = krc_store_folder(path);
    struct statfs fs;
    struct stat st;
    char type[64];
    if (folder == NULL)
        return krc_fail_nomem(error, strlen(path));
    const char *at = stat(path, &st) == 0 ? path : folder;
    int rc = KRC_OK;
    if (stat(at, &st) < 0 || statfs(at, &fs) < 0) {
        rc = krc_fail_errno(error, "cannot make the offset store %s in %s", path, folder);
        goto out;
    }
    mounted_type(st.st_dev, type);
    const char *name = krc_store_network_file_system((unsigned long)fs.f_type, type);
    if (name != NULL)
        rc = krc_fail(error, KRC_E_STORE,
                      "the offset store %s lies on a network file system (%s), where SQLite's "
                      "write-ahead log does not work: put it on a local disk", path, name);
out:
    free(folder);
    return rc;
}
