/* Opening and reading files past the page cache. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deltafin_io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t dfio_file_open(const char *path, int32_t direct) {
    int flags = O_RDONLY | O_CLOEXEC;
#ifdef O_DIRECT
    if (direct) flags |= O_DIRECT;
#endif
    int fd = open(path, flags);
    if (fd < 0) return -errno;
#ifdef F_NOCACHE
    if (direct && fcntl(fd, F_NOCACHE, 1) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    fcntl(fd, F_RDAHEAD, 0);
#endif
    return fd;
}

int32_t dfio_file_close(int32_t fd) {
    return close(fd) < 0 ? -errno : 0;
}

int32_t dfio_file_alignment(int32_t fd, int32_t out[2]) {
    out[0] = out[1] = 0;
#if defined(__linux__) && defined(STATX_DIOALIGN)
    struct statx s;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) < 0) return -errno;
    if (s.stx_mask & STATX_DIOALIGN) {
        out[0] = (int32_t)s.stx_dio_mem_align;
        out[1] = (int32_t)s.stx_dio_offset_align;
    }
#elif defined(__APPLE__)
    (void)fd;
    out[0] = out[1] = 16384;
#else
    (void)fd;
#endif
    return 0;
}

int64_t dfio_file_read(int32_t fd, uint64_t address, uint64_t bytes, uint64_t offset) {
    ssize_t n;
    do
        n = pread(fd, (void *)(uintptr_t)address, bytes, (off_t)offset);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

int32_t dfio_file_drop_cache(int32_t fd, uint64_t offset, uint64_t bytes) {
#ifdef POSIX_FADV_DONTNEED
    return -posix_fadvise(fd, (off_t)offset, (off_t)bytes, POSIX_FADV_DONTNEED);
#else
    (void)fd;
    (void)offset;
    (void)bytes;
    return 0;
#endif
}
