/*
 * What the files of the CPU provider share: device, queue, worker pool, scratch memory, errors, and the choice of the
 * instruction set. Nothing here is part of the ABI (include/deltafin.h).
 *
 * A family of kernels is a struct of function pointers, `struct df_<family>`, of which every tier defines one constant:
 * `df_<family>_scalar` in <family>_scalar.c, `_avx2` in <family>_avx2.c and so on. build.sh compiles the *_scalar.c
 * files twice on x86-64, the second time with hardware fma (tier DF_TIER_SCALAR_FMA): such a file names its table with
 * DF_SCALAR_TABLE(df_<family>). DF_PICK chooses at run time.
 */
#ifndef DELTAFIN_INTERNAL_H
#define DELTAFIN_INTERNAL_H

#include "deltafin.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct df_pool df_pool;

/* The code a device runs: its instruction set, and for the scalar one whether fmaf is an instruction or a libm call. */
enum df_tier { DF_TIER_SCALAR, DF_TIER_SCALAR_FMA, DF_TIER_AVX2, DF_TIER_AVX512, DF_TIER_NEON };

#if defined(__x86_64__)
#define DF_PICK(device, table)                                                                                         \
    ((device)->tier == DF_TIER_AVX512       ? &table##_avx512                                                          \
     : (device)->tier == DF_TIER_AVX2       ? &table##_avx2                                                            \
     : (device)->tier == DF_TIER_SCALAR_FMA ? &table##_scalar_fma                                                      \
                                            : &table##_scalar)
#elif defined(__aarch64__)
#define DF_PICK(device, table) ((device)->tier == DF_TIER_NEON ? &table##_neon : &table##_scalar)
#else
#define DF_PICK(device, table) (&table##_scalar)
#endif

#ifdef DF_SCALAR_FMA /* set by build.sh for the second compilation */
#define DF_SCALAR_TABLE(table) table##_scalar_fma
#else
#define DF_SCALAR_TABLE(table) table##_scalar
#endif

/* One block of memory that df_alloc handed out. */
struct df_block {
    struct df_block *next;
    void *address;
    void *base;      /* what to give back: the start of the mapping, or of the heap block */
    uint64_t mapped; /* bytes of the mapping, or 0 for a heap block */
};

struct df_device {
    int32_t isa;     /* enum df_isa, never DF_ISA_BEST */
    int32_t tier;    /* enum df_tier */
    int32_t threads; /* including the calling one */
    df_pool *pool;
    pthread_mutex_t memory_lock; /* guards blocks */
    struct df_block *blocks;
    char name[128];
};

/* Scratch of a queue. A slot belongs to one family at a time: its bytes last until that slot is asked for again. */
enum df_scratch_slot { DF_SCRATCH_INPUT, DF_SCRATCH_WORK, DF_SCRATCH_TABLE, DF_SCRATCH_VECTOR, DF_SCRATCH_SLOTS };

struct df_queue {
    df_device *device;
    int32_t failed; /* first failure since the last wait, or DF_OK */
    char error[512];
    void *scratch[DF_SCRATCH_SLOTS];
    size_t scratch_bytes[DF_SCRATCH_SLOTS];
};

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Keeps the message for df_queue_error (or df_last_error where q is NULL) and returns status. */
int32_t df_fail(df_queue *q, int32_t status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The door of every entry point: refuses with DF_E_ARGUMENT and the message unless the condition holds. */
#define DF_REQUIRE(q, condition, ...)                                                                                  \
    do {                                                                                                               \
        if (!(condition)) return df_fail((q), DF_E_ARGUMENT, __VA_ARGS__);                                             \
    } while (0)

/* ---- worker pool ---------------------------------------------------------------------------------------------------
 */

/* Work on items [begin, end); thread is 0 .. device->threads-1, and no two blocks run at once with the same one. */
typedef void (*df_task)(void *ctx, int64_t begin, int64_t end, int32_t thread);

/* Runs task over [0, items) in blocks of `grain`, on the calling thread and the pool's, and returns when all are done.
 * Inline when there is one block or one thread. A sum never crosses a block, so the split cannot show in a result. */
void df_parallel(df_queue *q, int64_t items, int64_t grain, df_task task, void *ctx);

/* NULL when the threads cannot be made. */
df_pool *df_pool_open(int32_t threads);
void df_pool_close(df_pool *pool);
/* Physical cores this process may use: affinity mask, hyper-thread siblings and cgroup quota considered. At least 1. */
int32_t df_pool_cores(void);

/* ---- memory --------------------------------------------------------------------------------------------------------
 */

/* At least `bytes`, aligned to 64, contents undefined; NULL (and the queue failed) when memory is out. */
void *df_scratch(df_queue *q, enum df_scratch_slot slot, size_t bytes);
void df_memory_close(df_device *device);

static inline float *df_f32(df_addr address) {
    return (float *)(uintptr_t)address;
}
static inline uint8_t *df_bytes(df_addr address) {
    return (uint8_t *)(uintptr_t)address;
}

static inline int64_t df_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t df_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline int64_t df_ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

#endif
