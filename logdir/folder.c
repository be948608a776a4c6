#include "logdir/folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/names.h"
#include "base/printable.h"
#include "logdir/files.h"
#include "logdir/load.h"

static const char cleaner_checkpoint[] = "cleaner-offset-checkpoint";

static const char *const broker_files[] = {
    "meta.properties",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
    cleaner_checkpoint,
};

/* ---- Names --------------------------------------------------------------------------------- */

/* Cuts TOPIC-PARTITION at its last '-'.  Leftovers end in "-delete" and the like, not a number. */
static bool cut_name(const char *name, size_t *topic_len, int32_t *partition)
{
    const char *dash = strrchr(name, '-');
    if (dash == NULL || dash == name || dash[1] == '\0' || (dash[1] == '0' && dash[2] != '\0'))
        return false;
    int64_t number = 0;
    for (const char *p = dash + 1; *p != '\0'; p++) {
        if (*p < '0' || *p > '9')
            return false;
        number = number * 10 + (*p - '0');
        if (number > INT32_MAX)
            return false;
    }
    *topic_len = (size_t)(dash - name);
    *partition = (int32_t)number;
    return true;
}

static bool is_segment_name(const char *name)
{
    return krc_segment_name(name, ".log") >= 0 || krc_segment_name(name, ".kafka") >= 0;
}

/* ---- The list ------------------------------------------------------------------------------ */

void krc_log_places_free(struct krc_log_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        free(places->list[i].topic);
        free(places->list[i].folder);
        free(places->list[i].data_folder);
        free(places->list[i].file);
    }
    free(places->list);
    *places = (struct krc_log_places){0};
}

/* Grows by doubling: the capacity is the power of two at or above the count. */
static struct krc_log_place *append(struct krc_log_places *places, krc_error *error)
{
    size_t n = places->count;
    if ((n & (n - 1)) == 0) {
        size_t bytes = (n > 0 ? 2 * n : 1) * sizeof *places->list;
        void *list = realloc(places->list, bytes);
        if (list == NULL) {
            krc_fail_nomem(error, bytes);
            return NULL;
        }
        places->list = list;
    }
    struct krc_log_place *place = &places->list[places->count++];
    *place = (struct krc_log_place){
        .interrupt = places->interrupt,
        .log_start_offset = -1,
        .high_watermark = -1,
        .recovery_point = -1,
        .cleaned_to = -1,
    };
    return place;
}

static int read_topic_id(struct krc_log_place *place, krc_error *error)
{
    static const char name[] = "partition.metadata";
    struct krc_buffer text = {0};
    int rc = krc_load_file(place->folder, name, &text, error);
    if (rc == 1) {
        rc = krc_partition_metadata_parse((const char *)text.data, text.len, &place->topic_id,
                                          error);
        if (rc < 0)
            krc_fail_in_file(error, rc, place->folder, name);
    }
    krc_buffer_free(&text);
    return rc < 0 ? rc : KRC_OK;
}

/* Adds a partition folder.  One whose name is not TOPIC-PARTITION, which only the user can have
 * named, is partition 0 of a topic of that name. */
static int add_place(struct krc_log_places *places, const char *folder, const char *name,
                     const char *file, krc_error *error)
{
    size_t topic_len;
    int32_t partition;
    if (!cut_name(name, &topic_len, &partition)) {
        topic_len = strlen(name);
        partition = 0;
    }
    if (!krc_is_topic_name(name, topic_len))
        return krc_fail(error, KRC_E_INVALID,
                        "\"%.*s\" is not a valid topic name: rename the folder to TOPIC-PARTITION: "
                        "%.600s", (int)topic_len, name, folder);
    struct krc_log_place *place = append(places, error);
    if (place == NULL)
        return KRC_E_NOMEM;
    place->topic = strndup(name, topic_len);
    place->partition = partition;
    place->folder = strdup(folder);
    place->file = file != NULL ? strdup(file) : NULL;
    if (place->topic == NULL || place->folder == NULL || (file != NULL && place->file == NULL))
        return krc_fail_nomem(error, PATH_MAX);
    return read_topic_id(place, error);
}

static int compare_names(const char *topic, size_t len, int32_t partition,
                         const struct krc_log_place *place)
{
    size_t place_len = strlen(place->topic);
    int c = memcmp(topic, place->topic, len < place_len ? len : place_len);
    if (c == 0)
        c = (len > place_len) - (len < place_len);
    return c != 0 ? c : (partition > place->partition) - (partition < place->partition);
}

static int by_name(const void *a, const void *b)
{
    const struct krc_log_place *place = a;
    return compare_names(place->topic, strlen(place->topic), place->partition, b);
}

/* In a list that is sorted; NULL where it is not there. */
static struct krc_log_place *find(struct krc_log_place *list, size_t count, const char *topic,
                                  size_t topic_len, int32_t partition)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = compare_names(topic, topic_len, partition, &list[middle]);
        if (c == 0)
            return &list[middle];
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct krc_log_place *krc_log_places_get(const struct krc_log_places *places,
                                               const char *topic, int32_t partition)
{
    return find(places->list, places->count, topic, strlen(topic), partition);
}

/* ---- What a broker's data folder says of its partitions ------------------------------------ */

/* The partitions found in one data folder, sorted, and the field that a checkpoint is about. */
struct family {
    struct krc_log_place *list;
    size_t count;
    size_t field;
};

static int note_offset(void *arg, const char *topic, size_t topic_len, int32_t partition,
                       int64_t offset)
{
    const struct family *family = arg;
    struct krc_log_place *place = find(family->list, family->count, topic, topic_len, partition);
    if (place != NULL)
        memcpy((char *)place + family->field, &offset, sizeof offset);
    return KRC_OK;
}

static int read_checkpoint(const char *folder, const char *name, struct family *family,
                           krc_error *error)
{
    struct krc_buffer text = {0};
    int rc = krc_load_file(folder, name, &text, error);
    if (rc == 1) {
        rc = krc_checkpoint_parse((const char *)text.data, text.len, note_offset, family, error);
        if (rc < 0)
            krc_fail_in_file(error, rc, folder, name);
    }
    krc_buffer_free(&text);
    return rc < 0 ? rc : KRC_OK;
}

static bool has_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0;
}

static int read_cluster(const char *folder, struct family *family, krc_error *error)
{
    struct krc_buffer text = {0};
    char cluster[sizeof family->list->cluster_id] = "";
    int rc = krc_load_file(folder, "meta.properties", &text, error);
    if (rc == 1)
        krc_meta_properties_cluster((const char *)text.data, text.len, cluster, sizeof cluster);
    krc_buffer_free(&text);
    bool clean = has_file(folder, ".kafka_cleanshutdown");
    bool remote = has_file(folder, "remote-log-index-cache");
    for (size_t i = 0; i < family->count; i++) {
        memcpy(family->list[i].cluster_id, cluster, sizeof cluster);
        family->list[i].data_folder = strdup(folder);
        if (family->list[i].data_folder == NULL)
            return krc_fail_nomem(error, strlen(folder));
        family->list[i].stopped_cleanly = clean;
        family->list[i].has_remote_storage = remote;
    }
    return rc < 0 ? rc : KRC_OK;
}

static int read_broker_files(const char *folder, struct krc_log_place *list, size_t count,
                             krc_error *error)
{
    static const struct {
        const char *name;
        size_t field;
    } checkpoints[] = {
        {"log-start-offset-checkpoint", offsetof(struct krc_log_place, log_start_offset)},
        {"replication-offset-checkpoint", offsetof(struct krc_log_place, high_watermark)},
        {"recovery-point-offset-checkpoint", offsetof(struct krc_log_place, recovery_point)},
        {cleaner_checkpoint, offsetof(struct krc_log_place, cleaned_to)},
    };
    struct family family = {list, count, 0};
    if (count > 1)
        qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < sizeof checkpoints / sizeof *checkpoints; i++) {
        family.field = checkpoints[i].field;
        KRC_TRY(read_checkpoint(folder, checkpoints[i].name, &family, error));
    }
    return read_cluster(folder, &family, error);
}

int krc_log_place_cleaned_to(const struct krc_log_place *place, int64_t *cleaned_to,
                             krc_error *error)
{
    struct krc_log_place now = {
        .topic = place->topic, .partition = place->partition, .cleaned_to = place->cleaned_to};
    struct family family = {&now, 1, offsetof(struct krc_log_place, cleaned_to)};
    if (place->data_folder != NULL)
        KRC_TRY(read_checkpoint(place->data_folder, cleaner_checkpoint, &family, error));
    *cleaned_to = now.cleaned_to;
    return KRC_OK;
}

/* ---- Paths --------------------------------------------------------------------------------- */

/* 1: a folder with segments in it, or with the files that lie beside segments. */
static int is_partition(const char *folder, krc_error *error)
{
    if (has_file(folder, "partition.metadata") || has_file(folder, "leader-epoch-checkpoint"))
        return 1;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", folder);
    const struct dirent *entry;
    bool found = false;
    while (!found && (entry = readdir(dir)) != NULL)
        found = is_segment_name(entry->d_name);
    closedir(dir);
    return found;
}

/* Cuts a real path into the folder and the last name. */
static void cut_path(char *path, const char **folder, const char **name)
{
    char *slash = strrchr(path, '/');
    *name = slash + 1;
    *folder = slash == path ? "/" : path;
    *slash = '\0';
}

/* A partition folder that was named itself, or a file in one. */
static int add_single(struct krc_log_places *places, const char *folder, const char *file,
                      krc_error *error)
{
    char real[PATH_MAX];
    const char *above, *name;
    if (realpath(folder, real) == NULL)
        return krc_fail_errno(error, "cannot find %s", folder);
    cut_path(real, &above, &name);
    KRC_TRY(add_place(places, folder, *name != '\0' ? name : "log", file, error));
    return read_broker_files(above, &places->list[places->count - 1], 1, error);
}

static int add_file(struct krc_log_places *places, const char *path, bool format_07,
                    krc_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (krc_segment_name(name, format_07 ? ".kafka" : ".log") < 0)
        return krc_fail(error, KRC_E_NOT_FOUND,
                        "not a segment: a segment's name is 20 digits and %s: %s",
                        format_07 ? ".kafka" : ".log", path);
    if (slash == NULL)
        return add_single(places, ".", name, error);
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return add_single(places, folder, name, error);
}

/* Kafka never made it; the first one is kept to be told. */
static void leave_out(struct krc_log_places *places, const char *name)
{
    if (places->left_out[0] == '\0')
        krc_printable(places->left_out, sizeof places->left_out, name, strlen(name));
}

/* A folder in a data folder, or a file, which is none of ours. */
static int add_subfolder(struct krc_log_places *places, const char *folder, const char *name,
                         krc_error *error)
{
    size_t topic_len;
    int32_t partition;
    char path[PATH_MAX];
    struct stat st;
    if (!cut_name(name, &topic_len, &partition))
        return KRC_OK;
    int n = snprintf(path, sizeof path, "%s%s%s", folder,
                     folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    if (n >= (int)sizeof path)
        return krc_fail(error, KRC_E_IO, "the path is too long: %s/%s", folder, name);
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return KRC_OK;
    if (krc_is_topic_name(name, topic_len))
        return add_place(places, path, name, NULL, error);
    leave_out(places, name);
    return KRC_OK;
}

static int add_subfolders(struct krc_log_places *places, const char *folder, DIR *dir,
                          krc_error *error)
{
    const struct dirent *entry;
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
        KRC_TRY(krc_check_interrupt(places->interrupt, "looking for partitions", error));
        KRC_TRY(add_subfolder(places, folder, entry->d_name, error));
    }
    if (errno != 0)
        return krc_fail_errno(error, "cannot read the folder %s", folder);
    return KRC_OK;
}

static int add_data_folder(struct krc_log_places *places, const char *folder, krc_error *error)
{
    size_t before = places->count;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", folder);
    int rc = add_subfolders(places, folder, dir, error);
    closedir(dir);
    KRC_TRY(rc);
    bool kafka = places->count > before;
    for (size_t i = 0; !kafka && i < sizeof broker_files / sizeof *broker_files; i++)
        kafka = has_file(folder, broker_files[i]);
    if (!kafka)
        return krc_fail(error, KRC_E_NOT_FOUND,
                        "no Kafka logs in %s: neither segments nor TOPIC-PARTITION folders",
                        folder);
    return read_broker_files(folder, places->list + before, places->count - before, error);
}

static int add_path(struct krc_log_places *places, const char *path, bool format_07,
                    krc_error *error)
{
    struct stat st;
    if (strlen(path) >= PATH_MAX - NAME_MAX)
        return krc_fail(error, KRC_E_INVALID, "the path is too long: %s", path);
    if (stat(path, &st) < 0)
        return krc_fail_errno(error, "cannot find %s", path);
    if (!S_ISDIR(st.st_mode))
        return add_file(places, path, format_07, error);
    int partition = is_partition(path, error);
    if (partition < 0)
        return partition;
    return partition ? add_single(places, path, NULL, error) : add_data_folder(places, path, error);
}

static int check_twice(const struct krc_log_places *places, krc_error *error)
{
    for (size_t i = 1; i < places->count; i++) {
        const struct krc_log_place *a = &places->list[i - 1], *b = &places->list[i];
        if (by_name(a, b) != 0)
            continue;
        krc_fail(error, KRC_E_AMBIGUOUS,
                 "%s-%d is there twice, name only one of its folders: %s and %s", a->topic,
                 (int)a->partition, a->folder, b->folder);
        krc_error_at(error, a->topic, a->partition, -1, -1);
        return KRC_E_AMBIGUOUS;
    }
    return KRC_OK;
}

void krc_log_places_tell(const struct krc_log_places *places,
                         void (*note)(void *arg, const char *topic, const char *text), void *arg)
{
    char text[480];
    if (places->left_out[0] == '\0')
        return;
    snprintf(text, sizeof text, "folder \"%s\" is left out, and so are others like it: it is named "
             "as a partition, but not of a valid topic name", places->left_out);
    note(arg, "", text);
}

int krc_log_places_find(struct krc_log_places *places, const char *const *paths, size_t count,
                        bool format_07, const struct krc_interrupt *interrupt,
                        krc_error *error)
{
    int rc = KRC_OK;
    *places = (struct krc_log_places){.interrupt = interrupt};
    for (size_t i = 0; i < count && rc >= 0; i++)
        rc = add_path(places, paths[i], format_07, error);
    if (rc >= 0) {
        if (places->count > 1)
            qsort(places->list, places->count, sizeof *places->list, by_name);
        rc = check_twice(places, error);
    }
    if (rc < 0)
        krc_log_places_free(places);
    return rc < 0 ? rc : KRC_OK;
}
