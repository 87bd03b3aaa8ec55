/* A disk that forgets what was not synced. Preloaded into a server, it notes beside every write what the file held before,
 * and drops the note when the file is synced; for names of files it does the same until their folder is synced. After a
 * kill -9 the test puts back what the notes hold: the folder is then what a power cut may leave.
 *
 * POWER_CUT_ROOT is the folder that forgets, POWER_CUT_NOTES an existing folder for the notes.
 * Writes through mmap are not noted: only SQLite's -shm file has them, and SQLite makes it anew. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS 65536
enum { UNKNOWN, FOREIGN, OURS };
static unsigned char kind_of_fd[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root, *notes;
static size_t root_length;
static long names_noted, kept;

/* Notes of a file: a header with the offset from which they count, then records, each followed by the old bytes. */
struct record { uint64_t size, offset, length; };

__attribute__((constructor)) static void begin(void) {
    root = getenv("POWER_CUT_ROOT");
    notes = getenv("POWER_CUT_NOTES");
    root_length = root ? strlen(root) : 0;
}

static int is_ours(const char *path) {
    return root && notes && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || !path[root_length]);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int tracks(int fd) {
    if (!root || fd < 0 || fd >= FDS) return 0;
    if (kind_of_fd[fd] == UNKNOWN) {
        char path[PATH_MAX];
        kind_of_fd[fd] = path_of(fd, path) && is_ours(path) ? OURS : FOREIGN;
    }
    return kind_of_fd[fd] == OURS;
}

static ssize_t raw_pwrite(int fd, const void *bytes, size_t length, off_t at) { return syscall(SYS_pwrite64, fd, bytes, length, at); }
static void fail(const char *what) { fprintf(stderr, "forgetful disk: cannot note %s: %m\n", what); abort(); }

static int open_notes(ino_t inode) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%lu.file", notes, (unsigned long)inode);
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) fail("a file");
    struct stat found;
    uint64_t from = 8;
    if (fstat(fd, &found) || (found.st_size < 8 && raw_pwrite(fd, &from, 8, 0) != 8)) fail("a file");
    return fd;
}

/* Everything noted up to an offset is on disk now. */
static void forget_notes(ino_t inode, uint64_t up_to) {
    int fd = open_notes(inode);
    if (raw_pwrite(fd, &up_to, 8, 0) != 8) fail("a sync");
    syscall(SYS_close, fd);
}

static uint64_t notes_end(ino_t inode) {
    struct stat found;
    int fd = open_notes(inode);
    if (fstat(fd, &found)) fail("a sync");
    syscall(SYS_close, fd);
    return found.st_size < 8 ? 8 : found.st_size;
}

/* Notes what a file holds in a range that is about to change. The lock is held. */
static void note_range(int fd, uint64_t offset, uint64_t length) {
    struct stat found;
    if (fstat(fd, &found) || !S_ISREG(found.st_mode)) return;
    uint64_t size = found.st_size, old = offset >= size ? 0 : size - offset < length ? size - offset : length;
    struct record record = { size, offset, old };
    char *bytes = malloc(sizeof record + old);
    if (!bytes) fail("a write");
    memcpy(bytes, &record, sizeof record);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int in = old ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
    if (old && (in < 0 || syscall(SYS_pread64, in, bytes + sizeof record, old, offset) != (ssize_t)old)) fail("old bytes");
    if (in >= 0) syscall(SYS_close, in);
    int out = open_notes(found.st_ino);
    struct stat noted;
    if (fstat(out, &noted)) fail("a write");
    if (raw_pwrite(out, bytes, sizeof record + old, noted.st_size) != (ssize_t)(sizeof record + old)) fail("a write");
    syscall(SYS_close, out);
    free(bytes);
}

/* Notes what happened to a name: one line, `C path`, `R old new kept`, `U path kept`, `S folder lines`. */
static void note_name(const char *format, ...) {
    char line[4 * PATH_MAX], path[PATH_MAX];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    snprintf(path, sizeof path, "%s/names", notes);
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_write, fd, line, length) != length) fail("a name");
    syscall(SYS_close, fd);
    names_noted++;
}

/* Keeps a file that loses its name; 0 where there is none. */
static long keep(const char *path) {
    char to[PATH_MAX];
    snprintf(to, sizeof to, "%s/%ld.kept", notes, kept + 1);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, to, 0) ? 0 : ++kept;
}

static int absolute(int folder, const char *path, char *out) {
    if (path[0] == '/') return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    char base[PATH_MAX];
    if (folder == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of(folder, base)) return 0;
    return snprintf(out, PATH_MAX, "%s/%s", base, path) < PATH_MAX;
}

static int open_at(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if (!root || !absolute(folder, name, path) || !is_ours(path)) return syscall(SYS_openat, folder, name, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat found;
    int is_new = (flags & O_CREAT) && lstat(path, &found) != 0;
    if (!is_new && (flags & O_TRUNC)) {
        int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0 && !fstat(fd, &found)) note_range(fd, 0, found.st_size);
        if (fd >= 0) syscall(SYS_close, fd);
    }
    int fd = syscall(SYS_openat, folder, name, flags, mode), error = errno;
    if (fd >= 0 && is_new && !(flags & O_DIRECTORY)) {
        note_name("C\t%s\n", path);
        /* The number of a deleted file may be given again. */
        if (!fstat(fd, &found)) forget_notes(found.st_ino, notes_end(found.st_ino));
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define MODE(flags) ({ mode_t mode = 0; if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list v; va_start(v, flags); mode = va_arg(v, int); va_end(v); } mode; })
int open(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return open_at(AT_FDCWD, path, flags | O_LARGEFILE, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return open_at(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return open_at(folder, path, flags | O_LARGEFILE, MODE(flags)); }

int close(int fd) {
    if (fd >= 0 && fd < FDS) kind_of_fd[fd] = UNKNOWN;
    return syscall(SYS_close, fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    if (!tracks(fd)) return syscall(SYS_pwrite64, fd, bytes, length, at);
    pthread_mutex_lock(&lock);
    note_range(fd, at, length);
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, length, at);
    pthread_mutex_unlock(&lock);
    return written;
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }

static uint64_t next_write(int fd) {
    struct stat found;
    if (fcntl(fd, F_GETFL) & O_APPEND) return fstat(fd, &found) ? 0 : found.st_size;
    return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (!tracks(fd)) return syscall(SYS_write, fd, bytes, length);
    pthread_mutex_lock(&lock);
    note_range(fd, next_write(fd), length);
    ssize_t written = syscall(SYS_write, fd, bytes, length);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!tracks(fd)) return syscall(SYS_writev, fd, parts, count);
    size_t length = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    pthread_mutex_lock(&lock);
    note_range(fd, next_write(fd), length);
    ssize_t written = syscall(SYS_writev, fd, parts, count);
    pthread_mutex_unlock(&lock);
    return written;
}

int ftruncate64(int fd, off64_t size) {
    if (!tracks(fd)) return syscall(SYS_ftruncate, fd, size);
    pthread_mutex_lock(&lock);
    struct stat found;
    uint64_t old = fstat(fd, &found) ? 0 : found.st_size;
    note_range(fd, size, old > (uint64_t)size ? old - size : 0);
    int done = syscall(SYS_ftruncate, fd, size);
    pthread_mutex_unlock(&lock);
    return done;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fallocate64(int fd, int mode, off64_t at, off64_t length) {
    if (tracks(fd)) {
        pthread_mutex_lock(&lock);
        note_range(fd, at, mode ? length : 0);
        pthread_mutex_unlock(&lock);
    }
    return syscall(SYS_fallocate, fd, mode, at, length);
}
int fallocate(int fd, int mode, off_t at, off_t length) { return fallocate64(fd, mode, at, length); }
int posix_fallocate64(int fd, off64_t at, off64_t length) { return fallocate64(fd, 0, at, length) ? errno : 0; }
int posix_fallocate(int fd, off_t at, off_t length) { return posix_fallocate64(fd, at, length); }

/* What is written while the sync runs is not covered by it. */
static int sync_with(long number, int fd) {
    struct stat found;
    if (!tracks(fd) || fstat(fd, &found)) return syscall(number, fd);
    pthread_mutex_lock(&lock);
    uint64_t end = S_ISREG(found.st_mode) ? notes_end(found.st_ino) : 0;
    long names = names_noted;
    pthread_mutex_unlock(&lock);
    int done = syscall(number, fd), error = errno;
    if (done == 0) {
        char path[PATH_MAX];
        pthread_mutex_lock(&lock);
        if (S_ISREG(found.st_mode)) forget_notes(found.st_ino, end);
        else if (path_of(fd, path)) note_name("S\t%s\t%ld\n", path, names);
        pthread_mutex_unlock(&lock);
    }
    errno = error;
    return done;
}
int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

static int rename_at(int from_folder, const char *from, int to_folder, const char *to) {
    char old[PATH_MAX], new[PATH_MAX];
    if (!root || !absolute(from_folder, from, old) || !absolute(to_folder, to, new) || !is_ours(new))
        return syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
    pthread_mutex_lock(&lock);
    long number = keep(new);
    int done = syscall(SYS_renameat2, from_folder, from, to_folder, to, 0), error = errno;
    if (done == 0) note_name("R\t%s\t%s\t%ld\n", old, new, number);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}
int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int ff, const char *from, int tf, const char *to) { return rename_at(ff, from, tf, to); }

static int unlink_at(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    if (!root || (flags & AT_REMOVEDIR) || !absolute(folder, name, path) || !is_ours(path))
        return syscall(SYS_unlinkat, folder, name, flags);
    pthread_mutex_lock(&lock);
    long number = keep(path);
    int done = syscall(SYS_unlinkat, folder, name, flags), error = errno;
    if (done == 0 && number) note_name("U\t%s\t%ld\n", path, number);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}
int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return unlink_at(folder, path, flags); }
