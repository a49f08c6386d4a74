/* Elementwise entry points: checks and the split over threads. The arithmetic is in vector_kernels.inc. */
#include "kernels.h"

#include <string.h>

/* Elements a thread should have before a second one is worth waking: some ten microseconds of work. */
#define MAP_GRAIN 8192
#define COPY_GRAIN (INT64_C(1) << 18) /* bytes */

struct map {
    const struct df_vector *kernels;
    float *y;
    const float *a, *b;
    float p, r;
};

static int32_t check_map(df_queue *q, const char *name, df_addr y, df_addr a, df_addr b, int64_t n) {
    DF_REQUIRE(q, q, "%s: queue is null", name);
    DF_REQUIRE(q, n >= 0, "%s: %lld elements", name, (long long)n);
    DF_REQUIRE(q, n == 0 || (y && a && b), "%s: null address", name);
    return DF_OK;
}

static int32_t run_map(df_queue *q, df_task task, df_addr y, df_addr a, df_addr b, int64_t n, float p, float r) {
    struct map map = {DF_PICK(q->device, df_vector), df_f32(y), df_f32(a), df_f32(b), p, r};
    df_parallel(q, n, MAP_GRAIN, task, &map);
    return DF_OK;
}

#define DF_MAP_TASK(name, call)                                                                                        \
    static void name(void *ctx, int64_t begin, int64_t end, int32_t thread) {                                          \
        const struct map *m = ctx;                                                                                     \
        float *y = m->y + begin;                                                                                       \
        const float *a = m->a + begin, *b = m->b + begin;                                                              \
        int64_t n = end - begin;                                                                                       \
        (void)thread, (void)b;                                                                                         \
        m->kernels->call;                                                                                              \
    }

DF_MAP_TASK(add_task, add(y, a, n))
DF_MAP_TASK(exp_task, exp(y, a, n))
DF_MAP_TASK(sigmoid_task, sigmoid(y, a, n))
DF_MAP_TASK(gate_task, gate(y, a, b, n))
DF_MAP_TASK(situ_task, situ(y, a, b, n, m->p, m->r))
DF_MAP_TASK(silu_task, silu(y, a, b, n))

int32_t df_add(df_queue *q, df_addr y, df_addr x, int64_t n) {
    int32_t status = check_map(q, "df_add", y, x, x, n);
    return status ? status : run_map(q, add_task, y, x, x, n, 0, 0);
}

int32_t df_exp(df_queue *q, df_addr y, df_addr x, int64_t n) {
    int32_t status = check_map(q, "df_exp", y, x, x, n);
    return status ? status : run_map(q, exp_task, y, x, x, n, 0, 0);
}

int32_t df_sigmoid(df_queue *q, df_addr y, df_addr x, int64_t n) {
    int32_t status = check_map(q, "df_sigmoid", y, x, x, n);
    return status ? status : run_map(q, sigmoid_task, y, x, x, n, 0, 0);
}

int32_t df_gate(df_queue *q, df_addr y, df_addr x, df_addr g, int64_t n) {
    int32_t status = check_map(q, "df_gate", y, x, g, n);
    return status ? status : run_map(q, gate_task, y, x, g, n, 0, 0);
}

int32_t df_activate(df_queue *q, df_addr y, df_addr g, df_addr u, int64_t n, int32_t activation, float b1, float b2) {
    int32_t status = check_map(q, "df_activate", y, g, u, n);
    if (status) return status;
    DF_REQUIRE(q, activation == DF_ACT_SITU || activation == DF_ACT_SILU, "df_activate: %d is no activation",
               activation);
    if (activation == DF_ACT_SILU) return run_map(q, silu_task, y, g, u, n, 0, 0);
    DF_REQUIRE(q, b1 > 0 && b2 >= 0, "df_activate: caps b1 = %g (above 0) and b2 = %g (0 or above)", (double)b1,
               (double)b2);
    return run_map(q, situ_task, y, g, u, n, b1, b2);
}

/* ---- rows ----------------------------------------------------------------------------------------------------------
 */

struct embed {
    const struct df_vector *kernels;
    float *out;
    const uint8_t *table;
    const int32_t *ids;
    int64_t H;
    int32_t format;
};

static void embed_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct embed *e = ctx;
    (void)thread;
    for (int64_t t = begin; t < end; t++) {
        float *out = e->out + t * e->H;
        if (e->format == DF_BF16)
            e->kernels->widen(out, (const uint16_t *)(const void *)e->table + e->ids[t] * e->H, e->H);
        else
            memcpy(out, e->table + (size_t)(e->ids[t] * e->H) * sizeof *out, (size_t)e->H * sizeof *out);
    }
}

int32_t df_embed(df_queue *q, df_addr out, df_addr table, int32_t format, const int32_t *ids, int64_t vocab, int64_t H,
                 int32_t T) {
    DF_REQUIRE(q, q, "df_embed: queue is null");
    DF_REQUIRE(q, out && table && ids, "df_embed: null address");
    DF_REQUIRE(q, format == DF_BF16 || format == DF_F32, "df_embed: a table of format %d; BF16 and F32 are possible",
               format);
    DF_REQUIRE(q, vocab > 0 && H > 0 && T > 0, "df_embed: vocab %lld, H %lld, T %d", (long long)vocab, (long long)H, T);
    for (int32_t t = 0; t < T; t++)
        DF_REQUIRE(q, ids[t] >= 0 && ids[t] < vocab, "df_embed: id %d of row %d is outside the vocabulary of %lld",
                   ids[t], t, (long long)vocab);
    struct embed embed = {DF_PICK(q->device, df_vector), df_f32(out), df_bytes(table), ids, H, format};
    df_parallel(q, T, df_max(1, 4 * MAP_GRAIN / H), embed_task, &embed);
    return DF_OK;
}

struct copy {
    uint8_t *dst;
    const uint8_t *src;
    int64_t dst_stride, src_stride, bytes, pieces; /* a row is copied in pieces of COPY_GRAIN bytes */
};

static void copy_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct copy *c = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t t = i / c->pieces, at = i % c->pieces * COPY_GRAIN;
        memcpy(c->dst + t * c->dst_stride + at, c->src + t * c->src_stride + at,
               (size_t)df_min(COPY_GRAIN, c->bytes - at));
    }
}

/* Ranges that overlap: rows in the direction in which none is overwritten before it is read. */
static void move_rows(const struct copy *c, int32_t T) {
    int up = c->dst <= c->src;
    for (int32_t i = 0; i < T; i++) {
        int64_t t = up ? i : T - 1 - i;
        memmove(c->dst + t * c->dst_stride, c->src + t * c->src_stride, (size_t)c->bytes);
    }
}

int32_t df_copy_rows(df_queue *q, df_addr dst, int64_t dst_stride_bytes, df_addr src, int64_t src_stride_bytes,
                     int64_t bytes, int32_t T) {
    DF_REQUIRE(q, q, "df_copy_rows: queue is null");
    DF_REQUIRE(q, bytes >= 0 && T > 0, "df_copy_rows: %lld bytes, T %d", (long long)bytes, T);
    if (bytes == 0) return DF_OK;
    DF_REQUIRE(q, dst && src, "df_copy_rows: null address");
    DF_REQUIRE(q, T == 1 || (dst_stride_bytes >= bytes && src_stride_bytes >= 0),
               "df_copy_rows: strides %lld (to) and %lld (from) for rows of %lld bytes", (long long)dst_stride_bytes,
               (long long)src_stride_bytes, (long long)bytes);
    struct copy copy = {df_bytes(dst),    df_bytes(src), dst_stride_bytes,
                        src_stride_bytes, bytes,         df_ceil_div(bytes, COPY_GRAIN)};
    df_addr dst_end = dst + (df_addr)((T - 1) * dst_stride_bytes + bytes);
    df_addr src_end = src + (df_addr)((T - 1) * src_stride_bytes + bytes);
    if (dst < src_end && src < dst_end)
        move_rows(&copy, T);
    else
        df_parallel(q, T * copy.pieces, df_max(1, COPY_GRAIN / bytes), copy_task, &copy);
    return DF_OK;
}

/* ---- expert sum, decay, short convolution --------------------------------------------------------------------------
 */

struct expert_sum {
    const struct df_vector *kernels;
    float *out;
    const float *results, *weights;
    int64_t Z, blocks; /* a row is split in blocks of SUM_BLOCK columns */
    int32_t k;
};

#define SUM_BLOCK 512

static void expert_sum_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct expert_sum *e = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t t = i / e->blocks, z = i % e->blocks * SUM_BLOCK;
        e->kernels->weighted_sum(e->out + t * e->Z + z, e->results + t * e->k * e->Z + z, e->Z, e->weights + t * e->k,
                                 e->k, df_min(SUM_BLOCK, e->Z - z));
    }
}

int32_t df_expert_sum(df_queue *q, df_addr out, df_addr results, df_addr weights, int64_t Z, int32_t k, int32_t T) {
    DF_REQUIRE(q, q, "df_expert_sum: queue is null");
    DF_REQUIRE(q, out && results && weights, "df_expert_sum: null address");
    DF_REQUIRE(q, Z > 0 && k > 0 && T > 0, "df_expert_sum: Z %lld, k %d, T %d", (long long)Z, k, T);
    struct expert_sum e = {
        DF_PICK(q->device, df_vector), df_f32(out), df_f32(results), df_f32(weights), Z, df_ceil_div(Z, SUM_BLOCK), k};
    df_parallel(q, T * e.blocks, df_max(1, 4 * MAP_GRAIN / (SUM_BLOCK * k)), expert_sum_task, &e);
    return DF_OK;
}

struct decay {
    const struct df_vector *kernels;
    float *alpha;
    const float *z, *bias, *a;
    int64_t heads, D;
    float lower_bound;
};

static void decay_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct decay *d = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t n = i % d->heads;
        d->kernels->decay(d->alpha + i * d->D, d->z + i * d->D, d->bias + n * d->D, d->a[n], d->D, d->lower_bound);
    }
}

int32_t df_decay(df_queue *q, df_addr alpha, df_addr z, df_addr dt_bias, df_addr a, int64_t heads, int64_t D, int32_t T,
                 float lower_bound) {
    DF_REQUIRE(q, q, "df_decay: queue is null");
    DF_REQUIRE(q, alpha && z && dt_bias && a, "df_decay: null address");
    DF_REQUIRE(q, heads > 0 && D > 0 && T > 0, "df_decay: heads %lld, D %lld, T %d", (long long)heads, (long long)D, T);
    DF_REQUIRE(q, lower_bound == lower_bound, "df_decay: the lower bound is not a number");
    struct decay decay = {
        DF_PICK(q->device, df_vector), df_f32(alpha), df_f32(z), df_f32(dt_bias), df_f32(a), heads, D, lower_bound};
    df_parallel(q, T * heads, df_max(1, MAP_GRAIN / D), decay_task, &decay);
    return DF_OK;
}

struct conv {
    const struct df_vector *kernels;
    float *y;
    const float *x, *w;
    int64_t y_stride, x_stride, C, blocks; /* blocks of CONV_BLOCK channels */
    int32_t W, T;
};

#define CONV_BLOCK 512

static void conv_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct conv *v = ctx;
    (void)thread;
    int64_t c = begin * CONV_BLOCK, n = df_min(v->C, end * CONV_BLOCK) - c;
    v->kernels->conv(v->y + c, v->y_stride, v->x + c, v->x_stride, v->w + c * v->W, n, v->W, v->T);
}

int32_t df_short_conv(df_queue *q, df_addr y, int64_t y_stride, df_addr x, int64_t x_stride, df_addr w, int64_t C,
                      int32_t W, int32_t T) {
    DF_REQUIRE(q, q, "df_short_conv: queue is null");
    DF_REQUIRE(q, y && x && w, "df_short_conv: null address");
    DF_REQUIRE(q, C > 0 && T > 0 && W > 0 && W <= DF_CONV_MAX, "df_short_conv: C %lld, T %d, W %d (1 to %d)",
               (long long)C, T, W, DF_CONV_MAX);
    DF_REQUIRE(q, (T == 1 || y_stride >= C) && (T + W == 2 || x_stride >= C),
               "df_short_conv: strides %lld and %lld for rows of %lld", (long long)y_stride, (long long)x_stride,
               (long long)C);
    struct conv conv = {DF_PICK(q->device, df_vector), df_f32(y), df_f32(x), df_f32(w), y_stride, x_stride, C,
                        df_ceil_div(C, CONV_BLOCK),    W,         T};
    df_parallel(q, conv.blocks, df_max(1, MAP_GRAIN / (CONV_BLOCK * (int64_t)T)), conv_task, &conv);
    return DF_OK;
}
