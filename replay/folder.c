#include "replay/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumer/ledger.h"

/* ---- The lock ------------------------------------------------------------------------------ */

/* Symbolic links are followed, as SQLite does; one that leads nowhere gets an empty file to lead
 * to, as a file that is not there yet is made.  To be freed. */
static char *real_path(const char *path)
{
    char *real = realpath(path, NULL);
    int fd = real == NULL && errno == ENOENT ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return real;
    close(fd);
    return realpath(path, NULL);
}

/* A SQLite file's lies beside the file itself, whatever names lead to it. */
static int name_lock(const struct krc_target *t, char *path, size_t size, krc_error *error)
{
    if (!t->is_sqlite) {
        snprintf(path, size, "%s/krc.lock", t->path);
        return KRC_OK;
    }
    char *real = real_path(t->path);
    if (real == NULL)
        return krc_fail_errno(error, "cannot open %s", t->path);
    snprintf(path, size, "%s-lock", real);
    free(real);
    return KRC_OK;
}

/* Nothing of this name, not even a link that leads nowhere. */
static bool is_missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 && errno == ENOENT;
}

static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 || st.st_size == 0;
}

/* Whoever has failed before it wrote may have removed the file since it was opened. */
static bool is_still(int fd, const char *path)
{
    struct stat open_file, now;
    return fstat(fd, &open_file) == 0 && stat(path, &now) == 0 &&
           open_file.st_ino == now.st_ino && open_file.st_dev == now.st_dev;
}

/* The lock is the kernel's and dies with its process; the number in the file names the owner. */
static int take_lock(struct krc_target *t, krc_error *error)
{
    char *path = t->lock_path, text[32] = "";
    KRC_TRY(name_lock(t, path, sizeof t->lock_path, error));
    t->made_lock = is_missing(path);
    t->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (t->lock < 0)
        return krc_fail_errno(error, t->is_sqlite ? "cannot make a file beside %s, which locks it"
                                                  : "cannot make a file in %s, which locks it",
                              t->path);
    if (flock(t->lock, LOCK_EX | LOCK_NB) != 0) {
        ssize_t n = pread(t->lock, text, sizeof text - 1, 0);
        text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
        return krc_fail(error, KRC_E_BUSY,
                        "process %s is writing to %s: wait until it has ended, or use another "
                        "target",
                        text[0] ? text : "unknown", t->path);
    }
    t->is_locked = is_still(t->lock, path);
    if (!t->is_locked)
        return krc_fail(error, KRC_E_BUSY, "another process was writing to %s just now: try again",
                        t->path);
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(t->lock, 0) != 0 || pwrite(t->lock, text, (size_t)n, 0) != n)
        return krc_fail_errno(error, "cannot write to %s", t->path);
    return KRC_OK;
}

/* ---- The folder ---------------------------------------------------------------------------- */

static int sync_parent(const char *path, krc_error *error)
{
    char parent[4096];
    snprintf(parent, sizeof parent, "%s", path);
    size_t len = strlen(parent);
    while (len > 1 && parent[len - 1] == '/')
        parent[--len] = '\0';
    char *slash = strrchr(parent, '/');
    if (slash == NULL)
        strcpy(parent, ".");
    else
        slash[slash == parent] = '\0';
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return KRC_OK; /* others made the folder, and their parent is not to be read */
    if (fd < 0)
        return krc_fail_errno(error, "cannot open %s", parent);
    int rc = fsync(fd) == 0 ? KRC_OK : krc_fail_errno(error, "cannot flush %s", parent);
    close(fd);
    return rc;
}

/* The folder's entry, and those in it, also where they were there: a run that was killed may have
 * made them just before. */
static int sync_folder(const struct krc_target *t, krc_error *error)
{
    KRC_TRY(sync_parent(t->path, error));
    return fsync(t->folder) == 0 ? KRC_OK : krc_fail_errno(error, "cannot flush %s", t->path);
}

static int open_folder(struct krc_target *t, krc_error *error)
{
    t->made_folder = mkdir(t->path, 0755) == 0;
    if (!t->made_folder && errno != EEXIST)
        return krc_fail_errno(error, "cannot make the folder %s", t->path);
    t->folder = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->folder < 0)
        return krc_fail_errno(error, "cannot open the folder %s", t->path);
    return KRC_OK;
}

/* The lock, and the store with what SQLite keeps beside it. */
static bool is_own(const struct krc_target *t, const char *name)
{
    static const char *const others[] = {".", "..", "lost+found", "krc.lock"};
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    const char *slash = strrchr(t->store, '/'), *store = slash == NULL ? t->store : slash + 1;
    size_t len = strlen(store);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strncmp(name, store, len) == 0 && strcmp(name + len, suffixes[i]) == 0)
            return true;
    return false;
}

/* A store that lies elsewhere may have been begun for another folder. */
static bool is_begun(const struct krc_target *t)
{
    return access(t->store, F_OK) == 0 &&
           (t->config->store_file[0] == '\0' || faccessat(t->folder, "krc.lock", F_OK, 0) == 0);
}

/* Where nothing was begun yet, nothing else may lie there: krc removes what it does not know. */
static int check_empty(const struct krc_target *t, krc_error *error)
{
    DIR *dir = t->is_sqlite ? NULL : opendir(t->path);
    if (dir == NULL)
        return t->is_sqlite ? KRC_OK : krc_fail_errno(error, "cannot read the folder %s", t->path);
    int rc = KRC_OK;
    for (struct dirent *entry; rc >= 0 && (entry = readdir(dir)) != NULL;)
        if (!is_own(t, entry->d_name))
            rc = krc_fail(error, KRC_E_MISMATCH,
                          "%s holds %s, but no replay was begun there (%s has none, or krc.lock is "
                          "missing): use an empty folder",
                          t->path, entry->d_name, t->store);
    closedir(dir);
    return rc;
}

/* ---- How it was begun ---------------------------------------------------------------------- */

struct setting {
    const char *name;
    char value[256];
    const char *advice;
    const char *once; /* what holds for outputs that were begun before there was this setting */
};

enum { SETTING_COUNT = 9 };

/* "1024", "24h", "1024, 1h", "none" */
static void describe_rotation(const krc_replay_options *o, char *text, size_t size)
{
    bool both = o->rotate_bytes > 0 && o->rotate_hours > 0;
    char bytes[24] = "", hours[16] = "";
    if (o->rotate_bytes > 0)
        snprintf(bytes, sizeof bytes, "%lld", (long long)o->rotate_bytes);
    if (o->rotate_hours > 0)
        snprintf(hours, sizeof hours, "%dh", o->rotate_hours);
    snprintf(text, size, "%s%s%s", bytes, both ? ", " : "", hours);
    if (text[0] == '\0')
        snprintf(text, size, "none");
}

static void describe_run(const struct krc_target *t, const char *cluster_id,
                         struct setting settings[SETTING_COUNT])
{
    static const char *const formats[] = {"jsonl", "raw", "segment"};
    static const char *const compressions[] = {"none", "gzip", "zstd"};
    const krc_replay_options *o = t->options;
    memset(settings, 0, SETTING_COUNT * sizeof *settings);
    settings[0] = (struct setting){.name = "format", .advice = "--format"};
    snprintf(settings[0].value, sizeof settings[0].value, "%s",
             t->is_sqlite ? "sqlite" : formats[o->format]);
    settings[1] = (struct setting){.name = "compression", .advice = "--compress"};
    snprintf(settings[1].value, sizeof settings[1].value, "%s", compressions[o->compression]);
    settings[2] = (struct setting){.name = "rotation", .advice = "--rotate"};
    describe_rotation(o, settings[2].value, sizeof settings[2].value);
    settings[3] = (struct setting){.name = "isolation.level", .advice = "--isolation-level"};
    snprintf(settings[3].value, sizeof settings[3].value, "%s",
             t->config->read_uncommitted ? "read_uncommitted" : "read_committed");
    settings[4] = (struct setting){.name = "encoding", .advice = "--encoding"};
    snprintf(settings[4].value, sizeof settings[4].value, "%s", o->base64 ? "base64" : "text");
    settings[5] = (struct setting){.name = "delimiter", .advice = "-D"};
    struct krc_bytes delimiter = krc_sink_delimiter(o);
    for (size_t i = 0; i < delimiter.len; i++)
        snprintf(settings[5].value + 2 * i, 3, "%02x", delimiter.data[i]);
    settings[6] = (struct setting){.name = "group.id", .advice = "--group"};
    snprintf(settings[6].value, sizeof settings[6].value, "%s", krc_store_group(t->config));
    settings[7] = (struct setting){.name = KRC_CLUSTER_SETTING, .advice = "the source"};
    snprintf(settings[7].value, sizeof settings[7].value, "%s", cluster_id);
    settings[8] = (struct setting){.name = "join", .advice = "--join", .once = "no"};
    snprintf(settings[8].value, sizeof settings[8].value, o->join ? "yes" : "no");
}

static int refuse_other(const struct krc_target *t, const struct setting *now, const char *then,
                        const char *more, krc_error *error)
{
    return krc_fail(error, KRC_E_MISMATCH,
                    "%s was begun with %s \"%s\", and this run has \"%s\": change %s, or use "
                    "another target%s", t->path, now->name, then, now->value, now->advice, more);
}

/* An output that was begun without knowing the cluster goes on where topic ids prove that this is
 * it; nothing else does: another topic of the same name may have the same offsets. */
static int compare_cluster(struct krc_target *t, const struct setting *now, const char *then,
                           const struct krc_cluster_here *here, krc_error *error)
{
    if (now->value[0] == '\0' || strcmp(then, now->value) == 0)
        return KRC_OK;
    snprintf(t->cluster.id, sizeof t->cluster.id, "%.63s", now->value);
    int rc = then[0] == '\0' ? krc_compare_topic_ids(t->db, krc_store_group(t->config), here, true,
                                                     error)
                             : refuse_other(t, now, then, "; if the topics moved there with their "
                                            "offsets, --moved-cluster", error);
    t->cluster.moved = rc == KRC_E_MISMATCH && here->moved;
    return t->cluster.moved ? KRC_OK : rc;
}

static int compare(struct krc_target *t, const struct setting *now, const char *then,
                   const struct krc_cluster_here *here, krc_error *error)
{
    if (strcmp(now->name, KRC_CLUSTER_SETTING) == 0)
        return compare_cluster(t, now, then, here, error);
    return strcmp(then, now->value) == 0 ? KRC_OK : refuse_other(t, now, then, "", error);
}

static int stop_at_first(void *arg, const char *group, const char *topic, int32_t partition,
                         const struct krc_stored *stored)
{
    (void)arg, (void)group, (void)topic, (void)partition, (void)stored;
    return 1;
}

/* Offsets that a reader committed say nothing of what is written here: to go on from them would
 * leave records out. */
static int write_settings(const struct krc_target *t, const struct setting settings[SETTING_COUNT],
                          krc_error *error)
{
    int has_offsets = krc_store_each(t->db, NULL, stop_at_first, NULL, error);
    KRC_TRY(has_offsets);
    if (has_offsets)
        return krc_fail(error, KRC_E_MISMATCH,
                        "%s holds offsets that no replay committed: use another store", t->store);
    for (int i = 0; i < SETTING_COUNT; i++)
        KRC_TRY(krc_store_set_setting(t->db, settings[i].name, settings[i].value, error));
    return krc_store_commit(t->db, error);
}

static int begin_or_compare(struct krc_target *t, const struct krc_cluster_here *here,
                            krc_error *error)
{
    struct setting settings[SETTING_COUNT];
    const char *then;
    describe_run(t, krc_cluster_id_here(here), settings);
    int rc = krc_store_get_setting(t->db, settings[0].name, &then, error);
    KRC_TRY(rc);
    if (rc == 0) {
        KRC_TRY(check_empty(t, error));
        KRC_TRY(krc_store_begin(t->db, error));
        rc = write_settings(t, settings, error);
        if (rc < 0)
            krc_store_rollback(t->db);
        return rc;
    }
    KRC_TRY(krc_store_flush(t->db, error));
    for (int i = 0; i < SETTING_COUNT; i++) {
        rc = krc_store_get_setting(t->db, settings[i].name, &then, error);
        KRC_TRY(rc);
        if (rc == 0)
            then = settings[i].once != NULL ? settings[i].once : "";
        KRC_TRY(compare(t, &settings[i], then, here, error));
    }
    return KRC_OK;
}

/* ---- What a dead run left ------------------------------------------------------------------ */

/* Whether a commit speaks of this file. */
static int is_committed(const struct krc_target *t, const struct krc_sink_name *name,
                        krc_error *error)
{
    struct krc_stored_sink sink;
    int rc = krc_store_load_sink(t->db, name->topic, name->partition, &sink, error);
    if (rc <= 0)
        return rc;
    return name->history < sink.history ||
           (name->history == sink.history && name->file_offset <= sink.file_offset &&
            sink.file_offset >= 0);
}

/* Flushed, for it shall not come back when another history is the newest. */
static int remove_if_left(const struct krc_target *t, int folder, const char *entry,
                          const struct krc_sink_name *name, krc_error *error)
{
    int rc = is_committed(t, name, error);
    if (rc == 0 && (unlinkat(folder, entry, 0) != 0 || fsync(folder) != 0))
        return krc_fail_errno(error, "cannot remove %s from %s", entry, t->path);
    return rc < 0 ? rc : KRC_OK;
}

/* The files in DIR, or for segments in one of its folders, whose stem then is given. */
static int clean(const struct krc_target *t, int folder, const struct krc_sink_name *stem,
                 krc_error *error);

static int clean_entry(const struct krc_target *t, int folder, const char *entry,
                       const struct krc_sink_name *stem, krc_error *error)
{
    struct krc_sink_name name;
    bool segments = t->options->format == KRC_REPLAY_SEGMENT;
    if (segments && stem == NULL) {
        if (!krc_sink_parse_stem(entry, strlen(entry), &name))
            return KRC_OK;
        int fd = openat(folder, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno != ENOTDIR && errno != ELOOP) /* no folder of ours, then */
            return krc_fail_errno(error, "cannot open %s/%s", t->path, entry);
        return fd < 0 ? KRC_OK : clean(t, fd, &name, error);
    }
    if (stem != NULL)
        name = *stem;
    if (!krc_sink_parse_name(t->options, entry, &name))
        return KRC_OK;
    if (t->only != NULL && (name.partition != t->only->partition ||
                            strcmp(name.topic, t->only->topic) != 0))
        return KRC_OK;
    return remove_if_left(t, folder, entry, &name, error);
}

static int clean(const struct krc_target *t, int folder, const struct krc_sink_name *stem,
                 krc_error *error)
{
    DIR *dir = fdopendir(folder); /* owns `folder` from now on */
    if (dir == NULL) {
        close(folder);
        return krc_fail_errno(error, "cannot read %s", t->path);
    }
    int rc = KRC_OK;
    for (struct dirent *entry; rc >= 0 && (entry = readdir(dir)) != NULL;)
        rc = clean_entry(t, dirfd(dir), entry->d_name, stem, error);
    closedir(dir);
    return rc;
}

static int clean_all(const struct krc_target *t, krc_error *error)
{
    return clean(t, openat(t->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), NULL, error);
}

int krc_target_clean(struct krc_target *t, const struct krc_place *place, krc_error *error)
{
    t->only = place;
    int rc = clean_all(t, error);
    t->only = NULL;
    return rc;
}

/* ---- The whole ----------------------------------------------------------------------------- */

int krc_target_open(struct krc_target *t, const krc_config *config,
                    const krc_replay_options *options, const struct krc_cluster_here *here,
                    krc_error *error)
{
    static const char prefix[] = "sqlite:";
    *t = (struct krc_target){.options = options, .config = config, .folder = -1, .lock = -1};
    t->is_sqlite = strncmp(options->to, prefix, sizeof prefix - 1) == 0;
    const char *path = options->to + (t->is_sqlite ? sizeof prefix - 1 : 0);
    if (*path == '\0' || strlen(path) >= sizeof t->path)
        return krc_fail(error, KRC_E_INVALID, "\"%s\" names no folder and no SQLite file",
                        options->to);
    snprintf(t->path, sizeof t->path, "%s", path);
    if (t->is_sqlite)
        snprintf(t->store, sizeof t->store, "%s", path);
    else if (config->store_file[0] != '\0')
        snprintf(t->store, sizeof t->store, "%s", config->store_file);
    else
        snprintf(t->store, sizeof t->store, "%s/krc.db", path);
    if (options->recover && access(t->store, F_OK) != 0)
        return krc_fail(error, KRC_E_NOT_FOUND, "there is no %s: no replay was begun that could be "
                        "recovered", t->store);
    bool missing = is_missing(t->store); /* SQLite's is made to be locked */
    int rc = t->is_sqlite ? KRC_OK : open_folder(t, error);
    if (rc >= 0 && !t->is_sqlite && !is_begun(t))
        rc = check_empty(t, error); /* now, so that a folder of others stays as it was */
    if (rc >= 0)
        rc = take_lock(t, error);
    t->made_store = rc >= 0 && missing && is_empty(t->store);
    if (rc >= 0 && !t->is_sqlite)
        rc = sync_folder(t, error);
    if (rc >= 0)
        rc = krc_store_open_until(&t->db, t->store, KRC_STORE_CREATE, &config->interrupt, error);
    if (rc >= 0)
        rc = begin_or_compare(t, here, error);
    if (rc >= 0 && !t->is_sqlite)
        rc = clean_all(t, error);
    if (rc < 0)
        krc_target_discard(t);
    return rc;
}

/* Whether another run would begin at that offset, too: the end, for one, is another one then. */
static bool begins_again(const struct krc_target *t, const struct krc_replay_partition *p,
                         int64_t offset)
{
    int64_t policy = t->config->reset_policy;
    bool is_at_end = policy == KRC_RESET_LATEST || policy == KRC_RESET_BY_DURATION;
    return p->start == KRC_EARLIEST || p->start == offset ||
           (p->start == KRC_STORED && !is_at_end);
}

/* One that says of something that was read, or where to begin. */
static int stop_at_need(void *arg, const char *group, const char *topic, int32_t partition,
                        const struct krc_stored *stored)
{
    const struct krc_target *t = arg;
    const krc_replay_options *o = t->options;
    (void)group;
    if (stored->account.to > stored->account.from)
        return 1;
    for (size_t i = 0; i < o->partition_count; i++) {
        const struct krc_replay_partition *p = &o->partitions[i];
        if (p->partition == partition && strcmp(p->topic, topic) == 0)
            return !begins_again(t, p, stored->offset);
    }
    return 0;
}

/* Whether what this run has made holds nothing: nobody else has a store that it made, for the lock
 * is held.  What a member of a group has begun is its next run's to judge. */
static bool is_unused(struct krc_target *t)
{
    krc_error error;
    if (!t->is_locked || !t->made_store)
        return false;
    return t->db == NULL ||
           (krc_store_each(t->db, NULL, stop_at_need, t, &error) == 0 &&
            (t->is_sqlite || (clean_all(t, &error) >= 0 && check_empty(t, &error) >= 0)));
}

void krc_target_discard(struct krc_target *t)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    bool unused = is_unused(t);
    char path[sizeof t->store + 16];
    krc_store_close(t->db);
    t->db = NULL;
    for (size_t i = 0; unused && i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", t->store, suffixes[i]);
        unlink(path);
    }
    if (unused && t->made_lock)
        unlink(t->lock_path);
    krc_target_close(t);
    if (t->made_folder)
        (void)rmdir(t->path); /* where nothing is in it */
}

void krc_target_close(struct krc_target *t)
{
    krc_store_close(t->db);
    if (t->folder >= 0)
        close(t->folder);
    if (t->lock >= 0)
        close(t->lock);
    t->db = NULL;
    t->folder = t->lock = -1;
}
