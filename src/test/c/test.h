/* What the kernel test programs share: deterministic numbers, hashes, devices of every instruction set, and checks.
 * A program ends with `return test_end();`. It prints what it ran and what it skipped. */
#ifndef DELTAFIN_TEST_H
#define DELTAFIN_TEST_H

#include "deltafin.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_failures, test_checks;

/* Fails the program, but lets it go on; after 20 failures they are only counted. */
#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        test_checks++;                                                                                                 \
        if (!(condition) && ++test_failures <= 20) {                                                                   \
            printf("FAILED %s:%d: ", __FILE__, __LINE__);                                                              \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
        }                                                                                                              \
    } while (0)

/* Stops the program: for what the rest of it needs. */
#define NEED(condition, ...)                                                                                           \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("FAILED %s:%d: ", __FILE__, __LINE__);                                                              \
            printf(__VA_ARGS__);                                                                                       \
            printf("\n");                                                                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int test_end(void) {
    printf("%d checks, %d failed\n", test_checks, test_failures);
    return test_failures || !test_checks;
}

/* ---- deterministic numbers (splitmix64) -----------------------------------------------------------------------------
 */

static inline uint64_t test_next(uint64_t *seed) {
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* In [-1, 1), a multiple of 2^-23. */
static inline float test_float(uint64_t *seed) {
    return (float)((int32_t)(test_next(seed) >> 40) - (1 << 23)) / (float)(1 << 23);
}

/* Any finite bit pattern: subnormals, zeros of both signs and huge values included. */
static inline float test_any_finite(uint64_t *seed) {
    uint32_t bits = (uint32_t)test_next(seed);
    if ((bits >> 23 & 255) == 255) bits ^= UINT32_C(1) << 30;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void test_floats(float *to, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++)
        to[i] = test_float(&seed);
}

static inline void test_bytes(uint8_t *to, int64_t n, uint64_t seed) {
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)test_next(&seed);
}

/* ---- hashes
 * ---------------------------------------------------------------------------------------------------------- */

#define TEST_HASH UINT64_C(0xcbf29ce484222325) /* FNV-1a, 64 bits */

/* Of the fp32 bits, little-endian; every NaN counts as one, since the payload of a NaN is not defined. */
static inline uint64_t test_hash(uint64_t hash, const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        if (x[i] != x[i]) bits = 0x7fc00000;
        for (int b = 0; b < 4; b++)
            hash = (hash ^ (bits >> 8 * b & 255)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* Index of the first float whose bits differ (NaN equals NaN), or -1. */
static inline int64_t test_difference(const float *a, const float *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) && !(a[i] != a[i] && b[i] != b[i])) return i;
    return -1;
}

/* A hash that every platform must print. */
static inline void test_golden(const char *name, uint64_t hash, uint64_t expected) {
    printf("  %-44s %016llx\n", name, (unsigned long long)hash);
    CHECK(hash == expected, "%s: hash %016llx, expected %016llx", name, (unsigned long long)hash,
          (unsigned long long)expected);
}

/* ---- devices
 * --------------------------------------------------------------------------------------------------------- */

static const char *const test_isa_names[] = {"best", "scalar", "avx2", "avx512", "neon"};

/* A device of this instruction set, or NULL where the CPU has none. */
static inline df_device *test_device(int32_t isa, int32_t threads) {
    df_device_options options = {threads, isa, 0, 0};
    df_device *device = NULL;
    int32_t status = df_device_open(&options, &device);
    NEED(status == DF_OK || status == DF_E_UNSUPPORTED, "open %s, %d threads: %s", test_isa_names[isa], threads,
         df_last_error());
    return device;
}

static inline df_queue *test_queue(df_device *device) {
    df_queue *queue = NULL;
    NEED(df_queue_open(device, &queue) == DF_OK, "%s", df_last_error());
    return queue;
}

static inline void test_ok(df_queue *queue, int32_t status) {
    NEED(status == DF_OK, "status %d: %s", status, df_queue_error(queue));
}

static inline df_addr test_address(const void *p) {
    return (df_addr)(uintptr_t)p;
}

static inline void *test_memory(size_t bytes) {
    void *p = calloc(bytes ? bytes : 1, 1);
    NEED(p, "no memory for %zu bytes", bytes);
    return p;
}

/* --quick: a reduced sweep, for emulators and sanitizers. */
static inline int test_quick(int argc, char **argv) {
    return argc > 1 && !strcmp(argv[1], "--quick");
}

#endif
