/*
 * The lane kernels: what one thread does to rows and vectors. Each struct is a family that DF_PICK takes from the tier
 * of the device; the same sources (*_kernels.inc) make all tiers. Arguments are checked by the entry points, which
 * also split the work. All pointers are fp32, rows contiguous unless a stride (in elements) is given.
 */
#ifndef DELTAFIN_KERNELS_H
#define DELTAFIN_KERNELS_H

#include "internal.h"

#define DF_CONV_MAX 64 /* widest short convolution */

/* Elementwise work; y may be any of the inputs. */
struct df_vector {
    void (*add)(float *y, const float *x, int64_t n); /* y += x */
    void (*exp)(float *y, const float *x, int64_t n);
    void (*sigmoid)(float *y, const float *x, int64_t n);
    void (*gate)(float *y, const float *x, const float *g, int64_t n);
    void (*situ)(float *y, const float *g, const float *u, int64_t n, float b1, float b2);
    void (*silu)(float *y, const float *g, const float *u, int64_t n);
    void (*widen)(float *y, const uint16_t *x, int64_t n);
    /* alpha = exp(lower_bound sig(a (z + bias))), or exp(-a softplus(z + bias)) where lower_bound >= 0 */
    void (*decay)(float *alpha, const float *z, const float *bias, float a, int64_t n, float lower_bound);
    /* out = sum_s weights[s] results[s][0..n), rows `stride` apart */
    void (*weighted_sum)(float *out, const float *results, int64_t stride, const float *weights, int32_t k, int64_t n);
    /* n channels of the short convolution over T rows; w [n][W] */
    void (*conv)(float *y, int64_t y_stride, const float *x, int64_t x_stride, const float *w, int64_t n, int32_t W,
                 int32_t T);
};

/* Work with a sum over a row, in the 64-sum order. */
struct df_norm {
    void (*rms)(float *y, const float *x, const float *w, int64_t n, float eps);
    void (*l2)(float *y, const float *x, int64_t n, float scale);
    void (*rms_gate)(float *y, const float *o, const float *w, const float *g, int64_t n, float eps);
    /* p: scratch of n floats */
    void (*mix)(float *y, const float *sources, int64_t stride, int32_t n, const float *fold, int64_t H, float eps,
                float *p);
    void (*softmax)(float *y, const float *x, int64_t n);
    int32_t (*argmax)(const float *x, int64_t n);
};

/* Some value columns of one head of KDA over rows [begin, end). */
struct df_kda_columns {
    const float *from; /* state before the rows, [D][columns], rows from_stride apart */
    float *to;         /* state after them; may be `from` */
    const float *next; /* the state that is asked for next, to be fetched in time, or NULL */
    int64_t from_stride, to_stride;
    int64_t D, columns;
    const float *q, *k, *alpha; /* row 0 of this head, rows `stride` apart */
    const float *v;             /* row 0, first column */
    float *out;
    const float *beta; /* row 0 of this head, rows beta_stride apart */
    int64_t stride, beta_stride;
    int32_t begin, end, out_from;
};

struct df_kda {
    void (*rows)(const struct df_kda_columns *c);
};

#define DF_MLA_TILE 64      /* positions of one step of the running softmax */
#define DF_MLA_MAX_LANES 64 /* most queries that one block of any tier holds */

struct df_mla {
    int64_t lanes; /* queries that one block holds */
    /* out[t][c] for c in [begin, end) of one head: sum_d k[d][c] q[t][d]; k and out point at column 0, k's rows are Rc
     * apart and of this format */
    void (*absorb)(float *out, int64_t out_stride, const void *k, int32_t format, const float *q, int64_t q_stride,
                   int64_t dn, int64_t Rc, int64_t begin, int64_t end, int32_t T);
    /* Packs `count` <= lanes queries of n values for `score`; packed: [n][lanes]. */
    void (*pack)(float *packed, const float *q, int64_t count, int64_t n);
    /* scores[j][lane] = scale <row j, query lane> for the first `count` positions of a tile, rows n apart */
    void (*score)(float *scores, const float *rows, int64_t count, const float *packed, int64_t n, float scale);
    /* max[lane] = largest score a lane sees: positions below seen[lane]. The others become -infinity. */
    void (*peak)(float *max, float *scores, const int32_t *seen);
    /* scores become exp(score - max[lane]); sum[lane] is their sum, by halving over the tile */
    void (*soften)(float *sum, float *scores, const float *max);
    /* mixed[lane][c] = mixed[lane][c] keep[lane] + sum_j p[j][lane] rows[j][c], columns [begin, end), lanes [0, count)
     */
    void (*blend)(float *mixed, int64_t mixed_stride, const float *keep, const float *p, const float *rows,
                  int64_t rows_stride, const int32_t *seen, int64_t count, int64_t begin, int64_t end);
};

#define DF_LANE_TABLES(tier)                                                                                           \
    extern const struct df_vector df_vector_##tier;                                                                    \
    extern const struct df_norm df_norm_##tier;                                                                        \
    extern const struct df_kda df_kda_##tier;                                                                          \
    extern const struct df_mla df_mla_##tier
DF_LANE_TABLES(scalar);
DF_LANE_TABLES(scalar_fma);
DF_LANE_TABLES(avx2);
DF_LANE_TABLES(avx512);
DF_LANE_TABLES(neon);

#endif
