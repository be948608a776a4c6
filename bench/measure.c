/*
 * Runs a command and appends to a file what it took:
 *
 *     measure FILE COMMAND [ARGUMENT...]      "CPU-SECONDS WALL-SECONDS PEAK-KILOBYTES"
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 1;
    double wall = now() - start;
    FILE *file = fopen(argv[1], "a");
    if (file == NULL)
        return 1;
    fprintf(file, "%.4f %.4f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall,
            usage.ru_maxrss);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
