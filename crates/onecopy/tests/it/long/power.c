/* Records how to undo each write that was not synced, so that power.rs can take a random part of them back.
 *
 * The test preloads it into the program (LD_PRELOAD). It sees the calls of the program to the system, so it checks the
 * real code for the real disk. POWER_FOLDER is the folder of the collection, and POWER_JOURNAL that of the records:
 *
 *   w<inode>   for each write to a file since its last sync: offset, length, length of the file before, and the bytes
 *              that it replaced; four numbers of eight bytes, the fourth counts the bytes
 *   names      a line for each name that was created, renamed or removed since the last sync of the folder
 *   i<inode>   a file that lost its name since then
 *
 * A sync deletes the records and reaches no disk: a process that is killed loses nothing that the system has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 65536
enum { OTHER, DATA, FOLDER };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kind_of[FILES];
static ino_t inode_of[FILES];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void fail(const char *what) {
    fprintf(stderr, "the model of power losses fails: %s: %s\n", what, strerror(errno));
    abort();
}

/* The name of a file inside the folder, or NULL. */
static const char *name_of(const char *path) {
    const char *folder = getenv("POWER_FOLDER");
    size_t length = folder ? strlen(folder) : 0;
    if (length == 0 || strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
    const char *name = path + length + 1;
    return *name && !strchr(name, '/') ? name : NULL;
}

static void journal_path(char *out, char letter, ino_t inode) {
    snprintf(out, 4096, "%s/%c%llu", getenv("POWER_JOURNAL"), letter, (unsigned long long)inode);
}

static void append(const char *path, const void *bytes, size_t length) {
    int file = REAL(open64)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes, length) != (ssize_t)length) fail(path);
    REAL(close)(file);
}

static void record_name(const char *line) {
    char path[4096];
    snprintf(path, sizeof path, "%s/names", getenv("POWER_JOURNAL"));
    append(path, line, strlen(line));
}

/* The inode of a path, or zero. Keeps the file if it is about to lose its name. */
static ino_t keep(const char *path) {
    struct stat64 found;
    char kept[4096];
    if (stat64(path, &found) != 0) return 0;
    journal_path(kept, 'i', found.st_ino);
    if (link(path, kept) != 0 && errno != EEXIST) fail(kept);
    return found.st_ino;
}

/* Records a change of the bytes from `offset`: `length` of them are written, or all later ones are cut off. */
static void record_bytes(int file, uint64_t offset, uint64_t length, uint64_t replaced_to) {
    struct stat64 found;
    char path[4096];
    if (fstat64(file, &found) != 0) fail("fstat");
    uint64_t before = (uint64_t)found.st_size;
    if (replaced_to > before) replaced_to = before;
    uint64_t count = replaced_to > offset ? replaced_to - offset : 0;
    uint64_t head[4] = {offset, length, before, count};
    char *record = malloc(sizeof head + count);
    memcpy(record, head, sizeof head);
    if (count > 0 && pread64(file, record + sizeof head, count, (off64_t)offset) != (ssize_t)count) fail("pread");
    journal_path(path, 'w', inode_of[file]);
    append(path, record, sizeof head + count);
    free(record);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    const char *name = name_of(path), *folder = getenv("POWER_FOLDER");
    pthread_mutex_lock(&lock);
    int is_new = name && (flags & O_CREAT) && access(path, F_OK) != 0;
    int file = REAL(open64)(path, flags, mode);
    int error = errno;
    struct stat64 found;
    if (file >= 0 && file < FILES) {
        kind_of[file] = folder && strcmp(path, folder) == 0 ? FOLDER : OTHER;
        if (name && (flags & O_ACCMODE) != O_RDONLY && fstat64(file, &found) == 0) {
            kind_of[file] = DATA;
            inode_of[file] = found.st_ino;
        }
        if (is_new && kind_of[file] == DATA) {
            char line[4096], old[4096];
            journal_path(old, 'w', found.st_ino);
            REAL(unlink)(old);
            snprintf(line, sizeof line, "create\t%llu\t%s\n", (unsigned long long)found.st_ino, name);
            record_name(line);
        }
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return file;
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return open64(path, flags, mode);
}

int close(int file) {
    if (file >= 0 && file < FILES) kind_of[file] = OTHER;
    return REAL(close)(file);
}

static int is_data(int file) {
    return file >= 0 && file < FILES && kind_of[file] == DATA;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    if (!is_data(file)) return REAL(pwrite64)(file, bytes, count, offset);
    pthread_mutex_lock(&lock);
    record_bytes(file, (uint64_t)offset, count, (uint64_t)offset + count);
    ssize_t done = REAL(pwrite64)(file, bytes, count, offset);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

/* The program writes at positions only. Another way would be lost on this model. */
ssize_t write(int file, const void *bytes, size_t count) {
    if (is_data(file)) fail("write without a position");
    return REAL(write)(file, bytes, count);
}

int ftruncate64(int file, off64_t length) {
    if (!is_data(file)) return REAL(ftruncate64)(file, length);
    pthread_mutex_lock(&lock);
    record_bytes(file, (uint64_t)length, UINT64_MAX, UINT64_MAX);
    int done = REAL(ftruncate64)(file, length);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

/* Forgets the records of the names, and the files that have none. */
static void sync_names(void) {
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s/names", getenv("POWER_JOURNAL"));
    FILE *names = fopen(path, "r");
    if (!names) return;
    while (fgets(line, sizeof line, names)) {
        char *inode = strrchr(line, '\t') + 1;
        char kept[4096];
        if (strncmp(line, "create", 6) == 0) continue;
        journal_path(kept, 'i', strtoull(inode, NULL, 10));
        REAL(unlink)(kept);
    }
    fclose(names);
    REAL(unlink)(path);
}

/* How long a sync takes, as on a slow disk. Without it, a power loss would hardly ever come before the end of one. */
#define SYNC_MICROSECONDS 15000

static int sync_file(int file) {
    char path[4096];
    usleep(SYNC_MICROSECONDS);
    pthread_mutex_lock(&lock);
    if (kind_of[file] == FOLDER) {
        sync_names();
    } else {
        journal_path(path, 'w', inode_of[file]);
        REAL(unlink)(path);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int fdatasync(int file) {
    return file >= 0 && file < FILES && kind_of[file] != OTHER ? sync_file(file) : REAL(fdatasync)(file);
}

int fsync(int file) {
    return file >= 0 && file < FILES && kind_of[file] != OTHER ? sync_file(file) : REAL(fsync)(file);
}

/* Lines end with the inode that lost its name, or zero. */
int unlink(const char *path) {
    const char *name = name_of(path);
    if (!name) return REAL(unlink)(path);
    pthread_mutex_lock(&lock);
    char line[4096];
    unsigned long long inode = keep(path);
    if (inode) {
        snprintf(line, sizeof line, "remove\t%llu\t%s\t%llu\n", inode, name, inode);
        record_name(line);
    }
    int done = REAL(unlink)(path);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int rename(const char *from, const char *to) {
    const char *from_name = name_of(from), *to_name = name_of(to);
    if (!from_name || !to_name) return REAL(rename)(from, to);
    pthread_mutex_lock(&lock);
    struct stat64 found;
    char line[4096];
    if (stat64(from, &found) == 0) {
        unsigned long long inode = found.st_ino, replaced = keep(to);
        snprintf(line, sizeof line, "rename\t%llu\t%s\t%s\t%llu\n", inode, from_name, to_name, replaced);
        record_name(line);
    }
    int done = REAL(rename)(from, to);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}
