#include "tests/support/tempdir.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

void tempdir_make(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/krc-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void tempdir_remove(void)
{
    ck_assert_int_eq(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *tempdir_path(const char *format, ...)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    int used = snprintf(path, PATH_MAX, "%s/", root);
    va_list args;
    va_start(args, format);
    vsnprintf(path + used, (size_t)(PATH_MAX - used), format, args);
    va_end(args);
    return path;
}

void tempdir_mkdir(const char *path)
{
    ck_assert_int_eq(mkdir(tempdir_path("%s", path), 0777), 0);
}

static void write_whole(const char *path, const void *data, size_t len)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert(len == 0 || fwrite(data, 1, len, file) == len);
    ck_assert_int_eq(fclose(file), 0);
}

static struct krc_buffer read_whole(const char *path)
{
    struct krc_buffer out = {0};
    uint8_t piece[4096];
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;)
        ck_assert_int_eq(krc_buffer_append(&out, piece, n, NULL), KRC_OK);
    fclose(file);
    return out;
}

void tempdir_write(const char *path, const void *data, size_t len)
{
    write_whole(tempdir_path("%s", path), data, len);
}

void tempdir_write_text(const char *path, const char *text)
{
    tempdir_write(path, text, strlen(text));
}

struct krc_buffer tempdir_read(const char *path)
{
    return read_whole(tempdir_path("%s", path));
}

void tempdir_copy(const char *from, const char *to)
{
    DIR *dir = opendir(from);
    ck_assert_msg(dir != NULL, "cannot read %s", from);
    tempdir_mkdir(to);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char source[PATH_MAX];
        struct stat st;
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        if (stat(source, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        struct krc_buffer file = read_whole(source);
        write_whole(tempdir_path("%s/%s", to, entry->d_name), file.data, file.len);
        krc_buffer_free(&file);
    }
    closedir(dir);
}
