/*
 * What is on disk when the power fails:
 *
 *     powercut TRACE CALLS SEED TO
 *
 * goes through the first CALLS calls of a trace (shim.c) and makes the folder TO as a machine finds
 * it that starts again.  Bytes and lengths are on disk when their file was flushed, entries of a
 * folder when the folder was.  With SEED 0 nothing else is; with another, each sector written and
 * each entry changed may by chance have reached the disk at once, in any order.  Prints how many
 * calls it went through.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct bytes {
    unsigned char *data;
    size_t len;
};

struct file {
    bool is_folder;
    struct bytes now, disk;
};

struct entry {
    int folder, file;
    char name[NAME_MAX + 1];
};

struct tree {
    struct entry *list;
    int count;
};

static struct file *files; /* the first is the folder that all lies below */
static int file_count;
static struct tree now, disk;
static unsigned long long state;
static size_t sector;

static void die(const char *what)
{
    fprintf(stderr, "powercut: %s: %s\n", what, errno != 0 ? strerror(errno) : "not understood");
    exit(1);
}

static void *grow(void *data, size_t bytes)
{
    void *grown = realloc(data, bytes + 1);
    if (grown == NULL)
        die("memory");
    return grown;
}

/* Whether a change reaches the disk by itself. */
static bool by_chance(void)
{
    if (state == 0)
        return false;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 40 & 1;
}

/* ---- Folders ------------------------------------------------------------------------------ */

static int new_file(bool is_folder)
{
    files = grow(files, (size_t)(file_count + 1) * sizeof *files);
    files[file_count] = (struct file){.is_folder = is_folder};
    return file_count++;
}

static struct entry *find(const struct tree *tree, int folder, const char *name)
{
    for (int i = 0; i < tree->count; i++)
        if (tree->list[i].folder == folder && strcmp(tree->list[i].name, name) == 0)
            return &tree->list[i];
    return NULL;
}

static void drop(struct tree *tree, int folder, const char *name)
{
    struct entry *entry = find(tree, folder, name);
    if (entry != NULL)
        *entry = tree->list[--tree->count];
}

static void put(struct tree *tree, int folder, const char *name, int file)
{
    drop(tree, folder, name);
    tree->list = grow(tree->list, (size_t)(tree->count + 1) * sizeof *tree->list);
    struct entry *entry = &tree->list[tree->count++];
    *entry = (struct entry){.folder = folder, .file = file};
    snprintf(entry->name, sizeof entry->name, "%s", name);
}

/* Where a path's last name stands; the name itself in `name`. */
static int folder_of(const char *path, char name[NAME_MAX + 1])
{
    int folder = 0;
    size_t len;
    for (; path[len = strcspn(path, "/")] != '\0'; path += len + 1) {
        snprintf(name, NAME_MAX + 1, "%.*s", (int)len, path);
        struct entry *entry = find(&now, folder, name);
        if (entry == NULL)
            die(path);
        folder = entry->file;
    }
    snprintf(name, NAME_MAX + 1, "%s", path);
    return folder;
}

static int file_of(const char *path)
{
    char name[NAME_MAX + 1];
    if (strcmp(path, ".") == 0)
        return 0;
    struct entry *entry = find(&now, folder_of(path, name), name);
    if (entry == NULL)
        die(path);
    return entry->file;
}

static void make(const char *path, bool is_folder)
{
    char name[NAME_MAX + 1];
    int folder = folder_of(path, name), file = new_file(is_folder);
    put(&now, folder, name, file);
    if (by_chance())
        put(&disk, folder, name, file);
}

static void remove_entry(const char *path)
{
    char name[NAME_MAX + 1];
    int folder = folder_of(path, name);
    drop(&now, folder, name);
    if (by_chance())
        drop(&disk, folder, name);
}

static void rename_entry(const char *from, const char *to)
{
    char old[NAME_MAX + 1], new[NAME_MAX + 1];
    int file = file_of(from), from_folder = folder_of(from, old), to_folder = folder_of(to, new);
    drop(&now, from_folder, old);
    put(&now, to_folder, new, file);
    if (!by_chance())
        return;
    drop(&disk, from_folder, old);
    put(&disk, to_folder, new, file);
}

static void flush_folder(int folder)
{
    for (int i = disk.count - 1; i >= 0; i--)
        if (disk.list[i].folder == folder)
            disk.list[i] = disk.list[--disk.count];
    for (int i = 0; i < now.count; i++)
        if (now.list[i].folder == folder)
            put(&disk, folder, now.list[i].name, now.list[i].file);
}

/* ---- Bytes -------------------------------------------------------------------------------- */

static void set_length(struct bytes *bytes, size_t len)
{
    bytes->data = grow(bytes->data, len);
    if (len > bytes->len)
        memset(bytes->data + bytes->len, 0, len - bytes->len);
    bytes->len = len;
}

static void copy_in(struct bytes *to, size_t at, const unsigned char *data, size_t len)
{
    if (to->len < at + len)
        set_length(to, at + len);
    memcpy(to->data + at, data, len);
}

static void cut(const char *path, size_t len)
{
    struct file *file = &files[file_of(path)];
    set_length(&file->now, len);
    if (by_chance())
        set_length(&file->disk, len);
}

static void write_bytes(const char *path, size_t at, const unsigned char *data, size_t len)
{
    struct file *file = &files[file_of(path)];
    copy_in(&file->now, at, data, len);
    for (size_t done = 0, n; done < len; done += n) {
        n = sector - (at + done) % sector;
        n = n < len - done ? n : len - done;
        if (by_chance())
            copy_in(&file->disk, at + done, data + done, n);
    }
}

static void flush_path(const char *path)
{
    int number = file_of(path);
    struct file *file = &files[number];
    if (file->is_folder) {
        flush_folder(number);
        return;
    }
    set_length(&file->disk, file->now.len);
    if (file->now.len > 0)
        memcpy(file->disk.data, file->now.data, file->now.len);
}

/* ---- The whole ---------------------------------------------------------------------------- */

static void replay_write(FILE *trace, size_t at, size_t len, const char *path)
{
    unsigned char *data = grow(NULL, len + 1);
    if (fread(data, 1, len + 1, trace) != len + 1)
        die("trace");
    write_bytes(path, at, data, len);
    free(data);
}

static bool replay_call(FILE *trace)
{
    char line[2 * PATH_MAX + 64], path[PATH_MAX], to[PATH_MAX];
    size_t at, len;
    if (fgets(line, sizeof line, trace) == NULL)
        return false;
    if (sscanf(line, "write %zu %zu %4095s", &at, &len, path) == 3)
        replay_write(trace, at, len, path);
    else if (sscanf(line, "cut %zu %4095s", &len, path) == 2)
        cut(path, len);
    else if (sscanf(line, "flush %4095s", path) == 1)
        flush_path(path);
    else if (sscanf(line, "make %4095s", path) == 1)
        make(path, false);
    else if (sscanf(line, "folder %4095s", path) == 1)
        make(path, true);
    else if (sscanf(line, "remove %4095s", path) == 1)
        remove_entry(path);
    else if (sscanf(line, "rename %4095s %4095s", path, to) == 2)
        rename_entry(path, to);
    else
        die(line);
    return true;
}

static void write_out(int folder, const char *path)
{
    char below[PATH_MAX];
    if (mkdir(path, 0755) != 0)
        die(path);
    for (int i = 0; i < disk.count; i++) {
        const struct entry *entry = &disk.list[i];
        const struct file *file = &files[entry->file];
        if (entry->folder != folder)
            continue;
        snprintf(below, sizeof below, "%.3800s/%s", path, entry->name);
        if (file->is_folder) {
            write_out(entry->file, below);
            continue;
        }
        FILE *out = fopen(below, "w");
        if (out == NULL || fwrite(file->disk.data, 1, file->disk.len, out) != file->disk.len ||
            fclose(out) != 0)
            die(below);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: powercut TRACE CALLS SEED TO\n");
        return 2;
    }
    FILE *trace = fopen(argv[1], "r");
    if (trace == NULL)
        die(argv[1]);
    state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u;
    sector = state & 1 ? 512 : 4096;
    new_file(true);
    long calls = 0, most = atol(argv[2]);
    while (calls < most && replay_call(trace))
        calls++;
    fclose(trace);
    write_out(0, argv[4]);
    printf("%ld\n", calls);
    return 0;
}
