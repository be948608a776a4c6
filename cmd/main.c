#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *meaning;
} commands[] = {
    {"read", cmd_read, "print records"},
    {"replay", cmd_replay, "write records exactly once into files, segments or a SQLite table"},
    {"verify", cmd_verify, "check log folders, and print their batches and records"},
    {"topics", cmd_topics, "list partitions, who has them, and their offsets"},
    {"txns", cmd_txns, "list transactions, and what holds the last stable offset back"},
    {"offsets", cmd_offsets, "list, export, import or reset committed offsets, and measure lag"},
};

static void help(void)
{
    puts("krc reads Apache Kafka topics exactly as committed.\n");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  krc %-8s %s\n", commands[i].name, commands[i].meaning);
    puts("\nkrc COMMAND --help tells the flags of each.");
}

/* A closed standard stream would be the next file's or socket's number, which then is written to. */
static void keep_numbers(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY); /* to write there still fails */
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    keep_numbers();
    setlocale(LC_CTYPE, "C.UTF-8"); /* how wide characters are */
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like others, told and cleaned up after */
    if (argc < 2)
        return cmd_usage("no command is named");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help();
        return cmd_flush();
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("krc " KRC_VERSION);
        return cmd_flush();
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return cmd_usage("there is no command \"%s\"", argv[1]);
}
