#include "deltafin_bench.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define MOST_THREADS 256

/* One thread's share of a pass. */
struct share {
    void (*run)(struct share *);
    const uint8_t *from, *scales;
    const float *x;
    float *y;
    int64_t begin, end, cols;
    uint64_t sum;
};

static void *run_share(void *arg) {
    struct share *share = arg;
    share->run(share);
    return NULL;
}

/* Splits [0, items) evenly and returns the sum of the shares' sums. A thread that cannot be had is done without. */
static uint64_t run_shares(struct share base, int64_t items, int32_t threads) {
    struct share shares[MOST_THREADS];
    pthread_t ids[MOST_THREADS];
    int started[MOST_THREADS] = {0};
    if (threads < 1) threads = 1;
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    for (int32_t i = threads - 1; i >= 0; i--) {
        shares[i] = base;
        shares[i].begin = items * i / threads;
        shares[i].end = items * (i + 1) / threads;
        if (i > 0) started[i] = !pthread_create(&ids[i], NULL, run_share, &shares[i]);
        if (!started[i]) run_share(&shares[i]);
    }
    uint64_t sum = 0;
    for (int32_t i = 0; i < threads; i++) {
        if (started[i]) pthread_join(ids[i], NULL);
        sum += shares[i].sum;
    }
    return sum;
}

/* ---- reading -------------------------------------------------------------------------------------------------------
 */

#define LINE 256

static void read_share(struct share *s) {
    uint64_t sums[LINE / 8] = {0};
    for (int64_t i = s->begin; i < s->end; i++) {
        uint64_t words[LINE / 8];
        memcpy(words, s->from + i * LINE, LINE);
        for (int j = 0; j < LINE / 8; j++)
            sums[j] += words[j];
    }
    for (int j = 0; j < LINE / 8; j++)
        s->sum += sums[j];
}

uint64_t df_bench_read(const void *from, uint64_t bytes, int32_t threads) {
    const uint8_t *p = from;
    uint64_t sum = run_shares((struct share){.run = read_share, .from = p}, (int64_t)(bytes / LINE), threads);
    for (uint64_t i = bytes / LINE * LINE; i < bytes; i++)
        sum += p[i];
    return sum;
}

/* ---- the plain MXFP4 product ------------------------------------------------------------------------------------- */

static float scale_of(uint8_t byte) {
    uint32_t bits = (uint32_t)byte << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

static float plain_row(const uint8_t *w, const uint8_t *scales, const float *x, int64_t cols) {
    static const float table[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    float sums[8] = {0};
    for (int64_t c = 0; c < cols; c++) {
        uint8_t nibble = c % 2 ? w[c / 2] >> 4 : w[c / 2] & 15;
        float weight = table[nibble & 7] * scale_of(scales[c / 32]);
        sums[c % 8] += (nibble & 8 ? -weight : weight) * x[c];
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

static void plain_share(struct share *s) {
    for (int64_t r = s->begin; r < s->end; r++)
        s->y[r] = plain_row(s->from + r * s->cols / 2, s->scales + r * (s->cols / 32), s->x, s->cols);
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) static inline __m256 plain_eight(const uint8_t *w, __m256 scale, const float *x,
                                                                     __m256 sum) {
    const __m256 table = _mm256_setr_ps(0, 0.5f, 1, 1.5f, 2, 3, 4, 6);
    int32_t nibbles;
    memcpy(&nibbles, w, sizeof nibbles);
    __m256i each = _mm256_srlv_epi32(_mm256_set1_epi32(nibbles), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    __m256i sign = _mm256_and_si256(_mm256_slli_epi32(each, 28), _mm256_set1_epi32((int)0x80000000));
    __m256 weight = _mm256_xor_ps(_mm256_permutevar8x32_ps(table, each), _mm256_castsi256_ps(sign));
    return _mm256_fmadd_ps(_mm256_mul_ps(weight, scale), _mm256_loadu_ps(x), sum);
}

__attribute__((target("avx2,fma"))) static float plain_row_avx2(const uint8_t *w, const uint8_t *scales, const float *x,
                                                                int64_t cols) {
    __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t b = 0; b < cols / 32; b++) {
        __m256 scale = _mm256_set1_ps(scale_of(scales[b]));
        for (int j = 0; j < 4; j++)
            sum[j] = plain_eight(w + 16 * b + 4 * j, scale, x + 32 * b + 8 * j, sum[j]);
    }
    float lanes[8];
    _mm256_storeu_ps(lanes, _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

__attribute__((target("avx2,fma"))) static void plain_share_avx2(struct share *s) {
    for (int64_t r = s->begin; r < s->end; r++)
        s->y[r] = plain_row_avx2(s->from + r * s->cols / 2, s->scales + r * (s->cols / 32), s->x, s->cols);
}

#endif

void df_bench_plain_mxfp4(float *y, const uint8_t *w, const uint8_t *scales, const float *x, int64_t matrices,
                          int64_t rows, int64_t cols, int32_t threads) {
    struct share base = {.run = plain_share, .from = w, .scales = scales, .x = x, .y = y, .cols = cols};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) base.run = plain_share_avx2;
#endif
    run_shares(base, matrices * rows, threads);
}
