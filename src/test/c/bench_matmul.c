/*
 * Matrix products at Kimi K3's shapes against two yardsticks in the same run: a pass that only reads the same bytes,
 * and (MXFP4) the plain design of public CPU kernels. Arms alternate; figures are medians over the repeats, GB/s of
 * weights and scales; `rows/s` is GB/s times T.
 *
 *   run.sh --bench [threads [repeats]]
 */
#include "test.h"

#include "bench/deltafin_bench.h"

#include <time.h>

#define MOST_REPEATS 51

/* With one thread its processor time, so that a busy machine disturbs less; else the time on the clock. */
static clockid_t clock_in_use = CLOCK_MONOTONIC;

static double now(void) {
    struct timespec t;
    clock_gettime(clock_in_use, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Many matrices of one shape, more than the caches hold. */
struct bank {
    int32_t format;
    int64_t rows, cols, matrices, w_bytes, scale_bytes;
    uint8_t *w, *scales;
};

static struct bank new_bank(df_device *device, int32_t format, int64_t rows, int64_t cols, int64_t total) {
    struct bank b = {.format = format, .rows = rows, .cols = cols};
    b.w_bytes = rows * (format == DF_MXFP4 ? cols / 2 : format == DF_BF16 ? cols * 2 : cols * 4);
    b.scale_bytes = format == DF_MXFP4 ? rows * cols / 32 : 0;
    b.matrices = total / (b.w_bytes + b.scale_bytes) + 1;
    df_addr w, scales;
    NEED(!df_alloc(device, (uint64_t)(b.matrices * b.w_bytes), DF_MEM_HOST_VISIBLE, &w), "%s", df_last_error());
    NEED(!df_alloc(device, (uint64_t)(b.matrices * b.scale_bytes + 1), DF_MEM_HOST_VISIBLE, &scales), "%s",
         df_last_error());
    b.w = (uint8_t *)(uintptr_t)w;
    b.scales = (uint8_t *)(uintptr_t)scales;
    uint64_t seed = 1;
    for (int64_t i = 0; i < b.matrices * b.w_bytes; i += 8) {
        uint64_t bits = test_next(&seed);
        if (format == DF_BF16) bits = (bits & UINT64_C(0x83ff83ff83ff83ff)) | UINT64_C(0x3c003c003c003c00);
        if (format == DF_F32) bits = (bits & UINT64_C(0x83ffffff83ffffff)) | UINT64_C(0x3c0000003c000000);
        memcpy(b.w + i, &bits, 8);
    }
    for (int64_t i = 0; i < b.matrices * b.scale_bytes; i++)
        b.scales[i] = (uint8_t)(118 + test_next(&seed) % 6);
    return b;
}

static int by_size(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

struct arm {
    char name[40];
    int32_t T;
    df_queue *q; /* NULL: a yardstick */
    double seconds[MOST_REPEATS];
};

/* One pass over the bank, or a part of it where T is large. Returns seconds for the whole bank. */
static double run_arm(const struct arm *arm, const struct bank *b, const float *x, float *y, int32_t threads) {
    const int64_t bytes = b->matrices * (b->w_bytes + b->scale_bytes);
    int64_t count = arm->q ? (b->matrices > arm->T ? b->matrices / arm->T : 1) : b->matrices;
    double start = now();
    if (!arm->q && !strcmp(arm->name, "read only")) {
        volatile uint64_t sink = df_bench_read(b->w, (uint64_t)(b->matrices * b->w_bytes), threads);
        (void)sink;
        return (now() - start) * (double)bytes / (double)(b->matrices * b->w_bytes);
    }
    if (!arm->q) {
        df_bench_plain_mxfp4(y, b->w, b->scales, x, b->matrices, b->rows, b->cols, threads);
        return now() - start;
    }
    for (int64_t m = 0; m < count; m++) {
        df_matmul_op op = {test_address(b->w + m * b->w_bytes),
                           test_address(b->scales + m * b->scale_bytes),
                           test_address(x),
                           test_address(y),
                           b->rows,
                           b->cols,
                           b->cols,
                           b->rows,
                           b->format,
                           0};
        test_ok(arm->q, df_matmul(arm->q, &op, 1, arm->T));
    }
    return (now() - start) * (double)b->matrices / (double)count;
}

static void bench(const struct bank *b, struct arm *arms, int n, int32_t threads, int repeats) {
    const double bytes = (double)(b->matrices * (b->w_bytes + b->scale_bytes));
    float *x = test_memory((size_t)(512 * b->cols) * sizeof *x);
    float *y = test_memory((size_t)((b->matrices > 512 ? b->matrices : 512) * b->rows) * sizeof *y);
    test_floats(x, 512 * b->cols, 3);
    for (int repeat = -1; repeat < repeats; repeat++) /* the first round only warms up */
        for (int i = 0; i < n; i++) {
            double seconds = run_arm(&arms[i], b, x, y, threads);
            if (repeat >= 0) arms[i].seconds[repeat] = seconds;
        }
    static const char *const formats[] = {"", "bf16", "f32", "mxfp4"};
    for (int i = 0; i < n; i++) {
        qsort(arms[i].seconds, (size_t)repeats, sizeof(double), by_size);
        double median = bytes / arms[i].seconds[repeats / 2] / 1e9, best = bytes / arms[i].seconds[0] / 1e9;
        printf("| %s %lldx%lld | %-14s | %2d | %3d | %7.2f | %7.2f | %7.2f |\n", formats[b->format], (long long)b->rows,
               (long long)b->cols, arms[i].name, threads, arms[i].T, median, best, median * arms[i].T);
    }
    free(x);
    free(y);
}

static void bench_shape(int32_t format, int64_t rows, int64_t cols, int64_t total, int32_t threads, int repeats) {
    static const int32_t widths[] = {1, 2, 3, 4, 8, 16, 64, 256};
    struct arm arms[48] = {{.name = "read only", .T = 1}, {.name = "plain", .T = 1}};
    int n = format == DF_MXFP4 ? 2 : 1;
    df_device *devices[8];
    int opened = 0;
    for (int32_t isa = DF_ISA_AVX2; isa <= DF_ISA_NEON; isa++) {
        df_device *device = test_device(isa, threads);
        if (!device) continue;
        devices[opened++] = device;
        df_queue *q = test_queue(device);
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++, n++) {
            snprintf(arms[n].name, sizeof arms[n].name, "%s", test_isa_names[isa]);
            arms[n].T = widths[i];
            arms[n].q = q;
        }
    }
    NEED(opened, "no SIMD tier here");
    struct bank b = new_bank(devices[0], format, rows, cols, total);
    bench(&b, arms, n, threads, repeats);
    for (int i = 0; i < n; i++)
        if (arms[i].q && (i + 1 == n || arms[i + 1].q != arms[i].q)) df_queue_close(arms[i].q);
    while (opened)
        df_device_close(devices[--opened]);
}

int main(int argc, char **argv) {
    int32_t threads = argc > 1 ? atoi(argv[1]) : 1;
    int repeats = argc > 2 ? atoi(argv[2]) : 7;
    NEED(threads >= 1 && repeats >= 1 && repeats <= MOST_REPEATS, "usage: bench_matmul [threads [repeats]]");
    if (threads == 1) clock_in_use = CLOCK_THREAD_CPUTIME_ID;
    printf("| matrix | arm | threads | T | GB/s median | best | times T |\n|---|---|---|---|---|---|---|\n");
    bench_shape(DF_BF16, 12288, 7168, INT64_C(500) << 20, threads, repeats);
    bench_shape(DF_MXFP4, 3072, 3584, INT64_C(230) << 20, threads, repeats);
    return 0;
}
