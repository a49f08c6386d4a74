/* Big aligned memory for expert slots: huge pages where the system has them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deltafin_io.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES ((uint64_t)2 << 20)

static uint64_t round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) / unit * unit;
}

int64_t dfio_memory_map(uint64_t bytes) {
    if (bytes == 0 || bytes > (uint64_t)1 << 46) return -EINVAL;
    uint64_t size = round_up(bytes, HUGE_BYTES), all = size + HUGE_BYTES;
    void *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (map == MAP_FAILED) return -errno;
    uint64_t start = (uint64_t)(uintptr_t)map, aligned = round_up(start, HUGE_BYTES);
    if (aligned > start) munmap(map, aligned - start);
    if (start + all > aligned + size) munmap((void *)(uintptr_t)(aligned + size), start + all - aligned - size);
#ifdef __linux__
    void *p = (void *)(uintptr_t)aligned; /* all three are advice: a system without them works, only slower */
    madvise(p, size, MADV_HUGEPAGE);
    madvise(p, size, MADV_DONTFORK);
    madvise(p, size, MADV_DONTDUMP);
#endif
    return (int64_t)aligned;
}

int32_t dfio_memory_prefault(uint64_t address, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (madvise((void *)(uintptr_t)address, bytes, MADV_POPULATE_WRITE) == 0) return 0;
    if (errno != EINVAL) return -errno;
#endif
    long page = sysconf(_SC_PAGESIZE);
    volatile char *p = (volatile char *)(uintptr_t)address;
    for (uint64_t i = 0; i < bytes; i += (uint64_t)page)
        p[i] = p[i];
    return 0;
}

int32_t dfio_memory_discard(uint64_t address, uint64_t bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = round_up(address, page), to = (address + bytes) / page * page;
    if (to <= from) return 0;
#ifdef __APPLE__
    int advice = MADV_FREE;
#else
    int advice = MADV_DONTNEED;
#endif
    return madvise((void *)(uintptr_t)from, to - from, advice) < 0 ? -errno : 0;
}

int32_t dfio_memory_unmap(uint64_t address, uint64_t bytes) {
    return munmap((void *)(uintptr_t)address, round_up(bytes, HUGE_BYTES)) < 0 ? -errno : 0;
}

int64_t dfio_memory_find(uint64_t address, uint64_t bytes, int32_t value) {
    const char *start = (const char *)(uintptr_t)address;
    const char *at = memchr(start, value, bytes);
    return at ? at - start : -1;
}
