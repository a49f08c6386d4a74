/* Runs one operation on every instruction set this CPU has, with several thread counts and cut into several chunks of
 * rows, and checks that the bits never change. */
#ifndef DELTAFIN_EVERY_DEVICE_H
#define DELTAFIN_EVERY_DEVICE_H

#include "df_math.h"
#include "test.h"

/* Computes rows [0, T) in calls of at most `step` rows, all outputs into `out`. */
typedef void (*test_operation)(df_queue *q, void *problem, int32_t step, float *out);

static struct {
    df_device *device;
    df_queue *queue;
    int32_t isa, threads;
} every[64];
static int every_count;

/* The first device is the scalar one with one thread. */
static inline void every_open(void) {
    static const int32_t threads[] = {1, 2, 3, 8};
    for (int32_t isa = DF_ISA_SCALAR; isa <= DF_ISA_NEON; isa++) {
        int have = 0;
        for (int i = 0; i < 4; i++) {
            df_device *device = test_device(isa, threads[i]);
            if (!device) break;
            every[every_count].device = device;
            every[every_count].queue = test_queue(device);
            every[every_count].isa = isa;
            every[every_count++].threads = threads[i];
            have = 1;
        }
        printf("  %s: %s\n", test_isa_names[isa], have ? "1, 2, 3, 8 threads" : "skipped, this CPU or build lacks it");
    }
}

static inline void every_close(void) {
    for (int i = 0; i < every_count; i++) {
        df_queue_close(every[i].queue);
        df_device_close(every[i].device);
    }
}

/* Leaves the n results in `out` and returns their hash. */
static inline uint64_t every_run(const char *name, test_operation operation, void *problem, int32_t T, float *out,
                                 int64_t n) {
    float *other = test_memory((size_t)n * sizeof *other);
    operation(every[0].queue, problem, T, out);
    for (int i = 0; i < every_count; i++) {
        int32_t steps[] = {T, 1, 3, 7};
        for (int s = 0; s < 4; s++) {
            if (s > 0 && (steps[s] >= T || (every[i].threads != 1 && every[i].threads != 3))) continue;
            memset(other, 0, (size_t)n * sizeof *other);
            operation(every[i].queue, problem, steps[s], other);
            int64_t at = test_difference(out, other, n);
            CHECK(at < 0, "%s on %s, %d threads, %d of %d rows a call: [%lld] is %a, not %a", name,
                  test_isa_names[every[i].isa], every[i].threads, steps[s], T, (long long)at, (double)other[at],
                  (double)out[at]);
        }
    }
    free(other);
    return test_hash(TEST_HASH, out, n);
}

/* The sum of 64 partial sums as docs/arithmetic.md words it. */
static inline float book_halve(float u[64]) {
    float v[64];
    for (int c = 0; c < 64; c++)
        v[(c % 2 ? 32 : 0) + c / 2] = u[c];
    for (int n = 32; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            v[i] = v[i] + v[i + n];
    return v[0];
}

static inline float book_dot(const float *a, const float *b, int64_t n) {
    float u[64] = {0};
    for (int64_t c = 0; c < n; c++)
        u[c % 64] = __builtin_fmaf(a[c], b[c], u[c % 64]);
    return book_halve(u);
}

static inline void check_close(const char *name, const float *got, const double *expected, int64_t n, double relative,
                               double absolute) {
    for (int64_t i = 0; i < n; i++) {
        double error = got[i] - expected[i],
               limit = relative * (expected[i] < 0 ? -expected[i] : expected[i]) + absolute;
        CHECK(error <= limit && -error <= limit, "%s: [%lld] is %.9g, the reference %.9g", name, (long long)i,
              (double)got[i], expected[i]);
    }
}

#endif
