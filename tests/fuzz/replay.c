/*
 * Runs a fuzz target over the files of its corpus, without a fuzzer.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    int files = 0;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        run_file(path);
        files++;
    }
    closedir(folder);
    if (files == 0) {
        fprintf(stderr, "%s is empty\n", argv[1]);
        return 1;
    }
    printf("%s: %d inputs\n", argv[1], files);
    return 0;
}
