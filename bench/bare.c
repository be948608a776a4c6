/*
 * The floor of reading a log from disk: files are mapped and go through the bare decode loop.
 *
 *     bare SEGMENT...
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/decode.h"
#include "records/codec.h"

int main(int argc, char **argv)
{
    struct decoder decoder = {.codecs = krc_codecs_new()};
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int fd = open(argv[i], O_RDONLY);
        if (fd < 0 || fstat(fd, &status) != 0) {
            perror(argv[i]);
            return 1;
        }
        const uint8_t *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            return 1;
        decode_batches(&decoder, data, (size_t)status.st_size);
        close(fd);
    }
    checksum_print(&decoder.checksum, 1);
    krc_buffer_free(&decoder.scratch);
    krc_codecs_free(decoder.codecs);
    return 0;
}
