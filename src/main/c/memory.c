/* Device memory of the CPU provider is host memory: small blocks from the heap, large ones from their own mapping on
 * huge pages, spread over the memory nodes. Also the growable scratch of a queue. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#define HUGE_PAGE (UINT64_C(2) << 20)
#define ALIGNMENT 64

static uint64_t round_up(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

#if defined(__linux__) && defined(SYS_mbind)
#define MPOL_INTERLEAVE 3
/* Pages in turn from every node, since any thread may read any row. Best effort: one node, an old kernel or a container
 * that forbids it leave the default policy. */
static void interleave(void *address, uint64_t bytes) {
    FILE *f = fopen("/sys/devices/system/node/has_memory", "re");
    if (!f) return;
    unsigned long mask[16] = {0};
    int first, last, nodes = 0;
    while (fscanf(f, "%d", &first) == 1) {
        last = first;
        int c = fgetc(f);
        if (c == '-' && fscanf(f, "%d", &last) == 1) c = fgetc(f);
        for (int node = first; node <= last && node < (int)(8 * sizeof mask); node++, nodes++)
            mask[node / (8 * sizeof *mask)] |= 1UL << (node % (8 * sizeof *mask));
        if (c != ',') break;
    }
    fclose(f);
    if (nodes > 1) syscall(SYS_mbind, address, bytes, MPOL_INTERLEAVE, mask, 8 * sizeof mask, 0);
}
#else
static void interleave(void *address, uint64_t bytes) {
    (void)address, (void)bytes;
}
#endif

/* A mapping of whole huge pages that starts at one; nothing is touched, so first use places the pages. */
static int map_block(struct df_block *block, uint64_t bytes) {
    uint64_t size = round_up(bytes, HUGE_PAGE), span = size + HUGE_PAGE;
    if (size < bytes || span < size) return ENOMEM;
    uint8_t *base = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return errno;
    uint8_t *start = (uint8_t *)(uintptr_t)round_up((uintptr_t)base, HUGE_PAGE);
    if (start > base) munmap(base, (size_t)(start - base));
    if (start + size < base + span) munmap(start + size, (size_t)(base + span - start - size));
#if defined(MADV_HUGEPAGE)
    madvise(start, size, MADV_HUGEPAGE);
#endif
    interleave(start, size);
    block->address = block->base = start;
    block->mapped = size;
    return 0;
}

static int heap_block(struct df_block *block, uint64_t bytes) {
    size_t size = round_up(bytes, ALIGNMENT);
    block->address = block->base = aligned_alloc(ALIGNMENT, size);
    if (!block->address) return ENOMEM;
    memset(block->address, 0, size);
    return 0;
}

static void give_back(struct df_block *block) {
    if (block->mapped)
        munmap(block->base, block->mapped);
    else
        free(block->base);
    free(block);
}

int32_t df_alloc(df_device *device, uint64_t bytes, int32_t memory, df_addr *out) {
    DF_REQUIRE(NULL, out, "df_alloc: out is null");
    *out = 0;
    DF_REQUIRE(NULL, device, "df_alloc: device is null");
    DF_REQUIRE(NULL, bytes > 0, "df_alloc: 0 bytes asked for");
    DF_REQUIRE(NULL, memory == DF_MEM_DEVICE || memory == DF_MEM_HOST_VISIBLE, "df_alloc: %d is no kind of memory",
               memory);
    struct df_block *block = calloc(1, sizeof *block);
    int error = !block ? ENOMEM : bytes >= HUGE_PAGE ? map_block(block, bytes) : heap_block(block, bytes);
    if (error) {
        free(block);
        return df_fail(NULL, DF_E_MEMORY, "df_alloc: cannot have %llu bytes: %s", (unsigned long long)bytes,
                       strerror(error));
    }
    pthread_mutex_lock(&device->memory_lock);
    block->next = device->blocks;
    device->blocks = block;
    pthread_mutex_unlock(&device->memory_lock);
    *out = (uintptr_t)block->address;
    return DF_OK;
}

int32_t df_free(df_device *device, df_addr address) {
    DF_REQUIRE(NULL, device, "df_free: device is null");
    if (!address) return DF_OK;
    pthread_mutex_lock(&device->memory_lock);
    struct df_block **link = &device->blocks;
    while (*link && (uintptr_t)(*link)->address != address)
        link = &(*link)->next;
    struct df_block *block = *link;
    if (block) *link = block->next;
    pthread_mutex_unlock(&device->memory_lock);
    DF_REQUIRE(NULL, block, "df_free: 0x%llx is no live block of this device", (unsigned long long)address);
    give_back(block);
    return DF_OK;
}

void df_memory_close(df_device *device) {
    while (device->blocks) {
        struct df_block *block = device->blocks;
        device->blocks = block->next;
        give_back(block);
    }
}

int32_t df_import(df_device *device, const void *host, uint64_t bytes, df_addr *out) {
    DF_REQUIRE(NULL, out, "df_import: out is null");
    *out = 0;
    DF_REQUIRE(NULL, device, "df_import: device is null");
    DF_REQUIRE(NULL, host && bytes > 0, "df_import: no bytes to import");
    *out = (uintptr_t)host;
    return DF_OK;
}

int32_t df_release(df_device *device, df_addr address) {
    DF_REQUIRE(NULL, device, "df_release: device is null");
    (void)address;
    return DF_OK;
}

void *df_scratch(df_queue *q, enum df_scratch_slot slot, size_t bytes) {
    if (bytes <= q->scratch_bytes[slot]) return q->scratch[slot];
    size_t size = round_up(bytes + bytes / 4, 4096); /* some room, so that a growing T does not allocate every time */
    free(q->scratch[slot]);
    q->scratch_bytes[slot] = 0;
    q->scratch[slot] = size > bytes ? aligned_alloc(4096, size) : NULL;
    if (!q->scratch[slot]) {
        df_fail(q, DF_E_MEMORY, "no memory for %zu bytes of scratch", bytes);
        return NULL;
    }
    q->scratch_bytes[slot] = size;
    return q->scratch[slot];
}
