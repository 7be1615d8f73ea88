/* Stands between the store and the disk: keeps a copy of what was synced, and makes the disk fail
   when it is told to. Loaded into a child process with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The path of an open file, if it is in the directory that is watched. */
static int watched(int fd, char *path) {
    const char *directory = getenv("ECLUSA_TEST_WATCHED");
    char link[64];
    if (!directory) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, directory, strlen(directory)) == 0;
}

/* Whether the fault of this name is switched on: a file of that name is there. */
static int faulty(const char *fault) {
    const char *directory = getenv("ECLUSA_TEST_FAULTS");
    char path[PATH_MAX];
    if (!directory) return 0;
    snprintf(path, sizeof path, "%s/%s", directory, fault);
    return access(path, F_OK) == 0;
}

static long put(int fd, const void *bytes, size_t length) {
    return syscall(SYS_write, fd, bytes, length);
}

static void copy(const char *from, const char *to) {
    char buffer[1 << 16];
    char draft[PATH_MAX];
    ssize_t length;
    snprintf(draft, sizeof draft, "%s.draft", to);
    int in = open(from, O_RDONLY), out = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0) abort();
    while ((length = read(in, buffer, sizeof buffer)) > 0)
        if (put(out, buffer, length) != length) abort();
    close(in);
    close(out);
    if (rename(draft, to)) abort();
}

/* Notes which thread waits for the disk. */
static void count(const char *survivors) {
    char path[PATH_MAX], name[32] = "";
    prctl(PR_GET_NAME, name);
    strcat(name, "\n");
    snprintf(path, sizeof path, "%s/syncs", survivors);
    int out = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (out < 0 || put(out, name, strlen(name)) < 0) abort();
    close(out);
}

/* A file survives with the content that it has now; a directory's entries survive as they are. */
static int survive(int fd) {
    const char *survivors = getenv("ECLUSA_TEST_SURVIVORS");
    char path[PATH_MAX], to[PATH_MAX * 2];
    struct stat about;
    if (!watched(fd, path)) return 0;
    if (faulty("sync")) { errno = EIO; return -1; }
    if (!survivors || fstat(fd, &about)) return 0;
    /* One at a time: two threads may sync the same file. */
    static int busy;
    while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) usleep(50);
    count(survivors);
    if (S_ISDIR(about.st_mode)) {
        DIR *directory = opendir(path);
        struct dirent *entry;
        while (directory && (entry = readdir(directory))) {
            snprintf(to, sizeof to, "%s/%s.entry", survivors, entry->d_name);
            close(open(to, O_WRONLY | O_CREAT, 0600));
        }
        if (directory) closedir(directory);
    } else {
        snprintf(to, sizeof to, "%s/%s", survivors, strrchr(path, '/') + 1);
        copy(path, to);
    }
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return 0;
}

int fsync(int fd) { return survive(fd); }
int fdatasync(int fd) { return survive(fd); }

static int full(int fd) {
    char path[PATH_MAX];
    if (!faulty("full") || !watched(fd, path)) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    return full(fd) ? -1 : put(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    return full(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    return full(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, length, at);
}
