/*
 * Matrix rows times rows of x: what matmul.c (df_matmul, df_mla_expand) and experts.c (df_experts) share with the tiers
 * of the family. docs/arithmetic.md has the order of every sum; the scalar tier is its plainest statement.
 */
#ifndef DELTAFIN_MATMUL_H
#define DELTAFIN_MATMUL_H

#include "internal.h"

#include <math.h>
#include <string.h>

/* Columns of a group: a bf16 or f32 row has 64 sums, an MXFP4 row 32 (two blocks of 16 bytes). */
#define DF_GROUP 64
#define DF_MX_BLOCK 32

/* y[t][r - y_first] = <row r, x[t]> for r in [begin, end). The x rows are in the order `arrange` gave them. */
struct df_rows {
    const uint8_t *w, *scales;
    int64_t cols, begin, end, y_first;
    const float *const *x;
    float *const *y;
    int32_t T, format;
};

struct df_matmul {
    /* Puts one row of x into the order in which this tier decodes weights. Whole groups only: the columns after the
     * last whole group (MXFP4: pair of blocks) stay where they are. `to` may not overlap x. */
    void (*arrange)(int32_t format, float *to, const float *x, int64_t cols);
    void (*multiply)(const struct df_rows *rows);
};

extern const struct df_matmul df_matmul_scalar;
#if defined(__x86_64__)
extern const struct df_matmul df_matmul_scalar_fma, df_matmul_avx2, df_matmul_avx512;
#elif defined(__aarch64__)
extern const struct df_matmul df_matmul_neon;
#endif

/* Floats from one arranged row to the next: rows start on a cache line. */
int64_t df_arranged_stride(int64_t cols);
/* Arranges T rows of x (x_stride apart) into `to` (df_arranged_stride apart). */
void df_arrange(df_queue *q, int32_t format, float *to, const float *x, int64_t x_stride, int64_t cols, int32_t T);

/* Bytes of one row's weights. */
static inline int64_t df_row_bytes(int32_t format, int64_t cols) {
    return format == DF_MXFP4 ? cols / 2 : format == DF_BF16 ? cols * 2 : cols * 4;
}

static inline int df_format_known(int32_t format) {
    return format == DF_BF16 || format == DF_F32 || format == DF_MXFP4;
}

static inline float df_bits_to_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Weights are little-endian and unaligned, as the files hold them. */
static inline float df_load_bf16(const uint8_t *w) {
    return df_bits_to_float((uint32_t)w[0] << 16 | (uint32_t)w[1] << 24);
}
static inline float df_load_f32(const uint8_t *w) {
    return df_bits_to_float((uint32_t)w[0] | (uint32_t)w[1] << 8 | (uint32_t)w[2] << 16 | (uint32_t)w[3] << 24);
}

/* 2^(byte - 127), exact also where it is subnormal (byte 0). Byte 255 is refused by the loader. */
static inline float df_scale_e8m0(uint8_t byte) {
    return df_bits_to_float(byte ? (uint32_t)byte << 23 : UINT32_C(0x00400000));
}

static const float df_e2m1[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                  -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

/* The last step of every sum: u[i] += u[i + n/2] until one is left. */
static inline float df_halve(float *u, int n) {
    for (int half = n / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            u[i] += u[i + half];
    return u[0];
}

/* Adds columns [from, cols) of a bf16 or f32 row to its sums; x in plain order. */
static inline void df_tail_64(int32_t format, float *u, const uint8_t *w, const float *x, int64_t from, int64_t cols) {
    for (int64_t c = from; c < cols; c++) {
        int64_t i = (c % 2 ? 32 : 0) + c % DF_GROUP / 2;
        u[i] = fmaf(format == DF_BF16 ? df_load_bf16(w + 2 * c) : df_load_f32(w + 4 * c), x[c], u[i]);
    }
}

/* Adds one block of 32 columns to the 16 sums of its parity; x in plain order. */
static inline void df_block_mxfp4(float *u, const uint8_t *w, float scale, const float *x) {
    for (int i = 0; i < 16; i++) {
        float t = df_e2m1[w[i] & 15] * x[2 * i];
        t = fmaf(df_e2m1[w[i] >> 4], x[2 * i + 1], t);
        u[i] = fmaf(t, scale, u[i]);
    }
}

#endif
