/* Devices, queues, errors: the CPU provider's frame. A call runs before it returns, so a queue only keeps its scratch
 * memory and the first failure. */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "internal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#define MAX_THREADS 1024

static _Thread_local char last_error[512];

int32_t df_fail(df_queue *q, int32_t status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (q)
        vsnprintf(q->error, sizeof q->error, format, args);
    else
        vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    if (q && q->failed == DF_OK) q->failed = status;
    return status;
}

int32_t df_abi_version(void) {
    return DF_ABI_VERSION;
}

const char *df_last_error(void) {
    return last_error;
}

/* ---- what this CPU has ---------------------------------------------------------------------------------------------
 */

#if defined(__x86_64__)
static bool has_fma(void) {
    return __builtin_cpu_supports("fma");
}
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && has_fma();
}
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
#endif

/* The tier for a wished isa, or -1 where this CPU (or this build) lacks it. *isa becomes the one in use. */
static int32_t choose_tier(int32_t *isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (*isa == DF_ISA_BEST) *isa = has_avx512() ? DF_ISA_AVX512 : has_avx2() ? DF_ISA_AVX2 : DF_ISA_SCALAR;
    switch (*isa) {
    case DF_ISA_SCALAR:
        return has_fma() ? DF_TIER_SCALAR_FMA : DF_TIER_SCALAR;
    case DF_ISA_AVX2:
        return has_avx2() ? DF_TIER_AVX2 : -1;
    case DF_ISA_AVX512:
        return has_avx512() ? DF_TIER_AVX512 : -1;
    default:
        return -1;
    }
#elif defined(__aarch64__)
    if (*isa == DF_ISA_BEST) *isa = DF_ISA_NEON;
    return *isa == DF_ISA_SCALAR ? DF_TIER_SCALAR : *isa == DF_ISA_NEON ? DF_TIER_NEON : -1;
#else
    if (*isa == DF_ISA_BEST) *isa = DF_ISA_SCALAR;
    return *isa == DF_ISA_SCALAR ? DF_TIER_SCALAR : -1;
#endif
}

static const char *isa_name(int32_t isa) {
    switch (isa) {
    case DF_ISA_AVX2:
        return "avx2";
    case DF_ISA_AVX512:
        return "avx512";
    case DF_ISA_NEON:
        return "neon";
    default:
        return "scalar";
    }
}

static void name_processor(char *name, size_t size) {
    snprintf(name, size, "unknown processor");
#if defined(__APPLE__)
    sysctlbyname("machdep.cpu.brand_string", name, &size, NULL, 0);
#elif defined(__linux__)
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f) return;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (!value || strncmp(line, "model name", 10)) continue;
        value += 1 + strspn(value + 1, " ");
        value[strcspn(value, "\n")] = 0;
        snprintf(name, size, "%s", value);
        break;
    }
    fclose(f);
#endif
}

/* ---- device --------------------------------------------------------------------------------------------------------
 */

int32_t df_device_open(const df_device_options *options, df_device **out) {
    DF_REQUIRE(NULL, out, "df_device_open: out is null");
    *out = NULL;
    DF_REQUIRE(NULL, options, "df_device_open: options is null");
    DF_REQUIRE(NULL, options->threads >= 0 && options->threads <= MAX_THREADS,
               "df_device_open: %d threads asked for; 0 (all physical cores) to %d are possible", options->threads,
               MAX_THREADS);
    DF_REQUIRE(NULL, options->ordinal == 0, "df_device_open: there is one CPU device, number 0, not %d",
               options->ordinal);
    DF_REQUIRE(NULL, options->isa >= DF_ISA_BEST && options->isa <= DF_ISA_NEON,
               "df_device_open: %d is no instruction set", options->isa);
    int32_t isa = options->isa, tier = choose_tier(&isa);
    if (tier < 0)
        return df_fail(NULL, DF_E_UNSUPPORTED, "df_device_open: this processor or build has no %s kernels",
                       isa_name(isa));
    df_device *device = calloc(1, sizeof *device);
    if (!device) return df_fail(NULL, DF_E_MEMORY, "df_device_open: out of memory");
    device->isa = isa;
    device->tier = tier;
    device->threads = options->threads ? options->threads : df_pool_cores();
    name_processor(device->name, sizeof device->name);
    pthread_mutex_init(&device->memory_lock, NULL);
    if (device->threads > 1 && !(device->pool = df_pool_open(device->threads))) {
        int32_t threads = device->threads;
        df_device_close(device);
        return df_fail(NULL, DF_E_DEVICE, "df_device_open: cannot start %d threads; ask for fewer", threads);
    }
    *out = device;
    return DF_OK;
}

void df_device_close(df_device *device) {
    if (!device) return;
    df_pool_close(device->pool);
    df_memory_close(device);
    pthread_mutex_destroy(&device->memory_lock);
    free(device);
}

int32_t df_device_describe(const df_device *device, df_device_info *out) {
    DF_REQUIRE(NULL, device && out, "df_device_describe: device or out is null");
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", device->name);
    snprintf(out->isa, sizeof out->isa, "%s", isa_name(device->isa));
    out->threads = device->threads;
    out->unified = 1;
    return DF_OK;
}

/* ---- queue ---------------------------------------------------------------------------------------------------------
 */

int32_t df_queue_open(df_device *device, df_queue **out) {
    DF_REQUIRE(NULL, out, "df_queue_open: out is null");
    *out = NULL;
    DF_REQUIRE(NULL, device, "df_queue_open: device is null");
    df_queue *q = calloc(1, sizeof *q);
    if (!q) return df_fail(NULL, DF_E_MEMORY, "df_queue_open: out of memory");
    q->device = device;
    *out = q;
    return DF_OK;
}

void df_queue_close(df_queue *q) {
    if (!q) return;
    for (int i = 0; i < DF_SCRATCH_SLOTS; i++)
        free(q->scratch[i]);
    free(q);
}

int32_t df_queue_wait(df_queue *q) {
    DF_REQUIRE(NULL, q, "df_queue_wait: queue is null");
    int32_t status = q->failed;
    q->failed = DF_OK;
    return status;
}

const char *df_queue_error(const df_queue *q) {
    return q ? q->error : last_error;
}

int32_t df_write(df_queue *q, df_addr to, const void *from, uint64_t bytes) {
    DF_REQUIRE(NULL, q, "df_write: queue is null");
    DF_REQUIRE(q, bytes == 0 || (to && from), "df_write: null address");
    if (bytes) memmove(df_bytes(to), from, bytes);
    return DF_OK;
}

int32_t df_read(df_queue *q, void *to, df_addr from, uint64_t bytes) {
    DF_REQUIRE(NULL, q, "df_read: queue is null");
    DF_REQUIRE(q, bytes == 0 || (to && from), "df_read: null address");
    if (bytes) memmove(to, df_bytes(from), bytes);
    return DF_OK;
}
