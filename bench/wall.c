/*
 * The wall, the least that reading a log from a broker can cost: a child sends the files over
 * loopback with sendfile, as a broker does, and here they are received in reads of 1 MiB and go
 * through the bare decode loop.  Only what receives is measured: nobody waits for the child.
 *
 *     wall SEGMENT...
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/decode.h"
#include "records/codec.h"

enum { READ_BYTES = 1 << 20, BATCH_MAX = 1 << 20 };

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void send_file(int to, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        die(path);
    for (off_t at = 0; at < status.st_size;)
        if (sendfile(to, fd, &at, (size_t)(status.st_size - at)) <= 0)
            die("sendfile");
    close(fd);
}

static void serve(int listening, char **paths)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int to = accept(listening, NULL, NULL);
    if (to < 0)
        die("accept");
    for (; *paths != NULL; paths++)
        send_file(to, *paths);
    exit(0);
}

/* A connection to a child that sends the files. */
static int connect_server(char **paths)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM, 0), from = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&address, len) != 0 || listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &len) != 0)
        die("listen");
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0)
        serve(listening, paths);
    if (child < 0 || connect(from, (struct sockaddr *)&address, len) != 0)
        die("connect");
    close(listening);
    return from;
}

int main(int argc, char **argv)
{
    static uint8_t buffer[BATCH_MAX + READ_BYTES];
    struct decoder decoder = {.codecs = krc_codecs_new()};
    size_t len = 0;
    ssize_t n;
    if (argc < 2)
        return 2;
    int from = connect_server(argv + 1);
    while ((n = recv(from, buffer + len, READ_BYTES, MSG_WAITALL)) > 0) {
        len += (size_t)n;
        size_t done = decode_batches(&decoder, buffer, len);
        len -= done;
        if (len > BATCH_MAX)
            abort();
        memmove(buffer, buffer + done, len);
    }
    if (n < 0)
        die("recv");
    checksum_print(&decoder.checksum, 1);
    krc_buffer_free(&decoder.scratch);
    krc_codecs_free(decoder.codecs);
    return 0;
}
