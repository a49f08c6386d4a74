/* Entry points with a sum over a row: checks and the split over threads. The arithmetic is in norm_kernels.inc. */
#include "kernels.h"

#define ROW_GRAIN 8192 /* elements a thread should have before a second one is worth waking */
#define MIX_MAX 1024   /* most sources of a mix */

struct rows {
    const struct df_norm *kernels;
    void *y;
    const float *x, *w, *g;
    int64_t y_stride, x_stride, source_stride, n;
    int32_t sources;
    float p; /* eps or scale */
};

static void rms_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct rows *r = ctx;
    (void)thread;
    for (int64_t t = begin; t < end; t++)
        r->kernels->rms((float *)r->y + t * r->y_stride, r->x + t * r->x_stride, r->w, r->n, r->p);
}

int32_t df_rms(df_queue *q, df_addr y, int64_t y_stride, df_addr x, int64_t x_stride, df_addr w, int64_t n, int32_t T,
               float eps) {
    DF_REQUIRE(q, q, "df_rms: queue is null");
    DF_REQUIRE(q, y && x && w, "df_rms: null address");
    DF_REQUIRE(q, n > 0 && T > 0 && eps >= 0, "df_rms: n %lld, T %d, eps %g", (long long)n, T, (double)eps);
    DF_REQUIRE(q, T == 1 || (y_stride >= n && x_stride >= n), "df_rms: strides %lld and %lld for rows of %lld",
               (long long)y_stride, (long long)x_stride, (long long)n);
    struct rows rows = {.kernels = DF_PICK(q->device, df_norm),
                        .y = df_f32(y),
                        .x = df_f32(x),
                        .w = df_f32(w),
                        .y_stride = y_stride,
                        .x_stride = x_stride,
                        .n = n,
                        .p = eps};
    df_parallel(q, T, df_max(1, ROW_GRAIN / n), rms_task, &rows);
    return DF_OK;
}

static void mix_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct rows *r = ctx;
    float weights[MIX_MAX];
    (void)thread;
    for (int64_t t = begin; t < end; t++)
        r->kernels->mix((float *)r->y + t * r->y_stride, r->x + t * r->x_stride, r->source_stride, r->sources, r->w,
                        r->n, r->p, weights);
}

int32_t df_mix(df_queue *q, df_addr y, int64_t y_stride, df_addr sources, int64_t source_stride, int64_t row_stride,
               int32_t n, df_addr fold, int64_t H, int32_t T, float eps) {
    DF_REQUIRE(q, q, "df_mix: queue is null");
    DF_REQUIRE(q, y && sources && fold, "df_mix: null address");
    DF_REQUIRE(q, n > 0 && n <= MIX_MAX, "df_mix: %d sources; 1 to %d are possible", n, MIX_MAX);
    DF_REQUIRE(q, H > 0 && T > 0 && eps >= 0, "df_mix: H %lld, T %d, eps %g", (long long)H, T, (double)eps);
    DF_REQUIRE(q, T == 1 || (y_stride >= H && row_stride >= H), "df_mix: strides %lld and %lld for rows of %lld",
               (long long)y_stride, (long long)row_stride, (long long)H);
    struct rows rows = {.kernels = DF_PICK(q->device, df_norm),
                        .y = df_f32(y),
                        .x = df_f32(sources),
                        .w = df_f32(fold),
                        .y_stride = y_stride,
                        .x_stride = row_stride,
                        .source_stride = source_stride,
                        .n = H,
                        .sources = n,
                        .p = eps};
    df_parallel(q, T, df_max(1, ROW_GRAIN / (H * n)), mix_task, &rows);
    return DF_OK;
}

static void argmax_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct rows *r = ctx;
    (void)thread;
    for (int64_t t = begin; t < end; t++)
        ((int32_t *)r->y)[t] = r->kernels->argmax(r->x + t * r->x_stride, r->n);
}

int32_t df_argmax(df_queue *q, df_addr out, df_addr x, int64_t x_stride, int64_t n, int32_t T) {
    DF_REQUIRE(q, q, "df_argmax: queue is null");
    DF_REQUIRE(q, out && x, "df_argmax: null address");
    DF_REQUIRE(q, n > 0 && n <= INT32_MAX && T > 0 && (T == 1 || x_stride >= n), "df_argmax: n %lld, T %d, stride %lld",
               (long long)n, T, (long long)x_stride);
    struct rows rows = {
        .kernels = DF_PICK(q->device, df_norm), .y = df_bytes(out), .x = df_f32(x), .x_stride = x_stride, .n = n};
    df_parallel(q, T, df_max(1, 4 * ROW_GRAIN / n), argmax_task, &rows);
    return DF_OK;
}

/* The per-head kernels see T * heads rows of D. */
static int32_t check_heads(df_queue *q, const char *name, df_addr y, df_addr x, df_addr w, df_addr g, int64_t heads,
                           int64_t D, int32_t T) {
    DF_REQUIRE(q, q, "%s: queue is null", name);
    DF_REQUIRE(q, y && x && w && g, "%s: null address", name);
    DF_REQUIRE(q, heads > 0 && D > 0 && T > 0, "%s: heads %lld, D %lld, T %d", name, (long long)heads, (long long)D, T);
    return DF_OK;
}

static void l2norm_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct rows *r = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        r->kernels->l2((float *)r->y + i * r->n, r->x + i * r->n, r->n, r->p);
}

int32_t df_l2norm(df_queue *q, df_addr y, df_addr x, int64_t heads, int64_t D, int32_t T, float scale) {
    int32_t status = check_heads(q, "df_l2norm", y, x, x, x, heads, D, T);
    if (status) return status;
    struct rows rows = {.kernels = DF_PICK(q->device, df_norm), .y = df_f32(y), .x = df_f32(x), .n = D, .p = scale};
    df_parallel(q, T * heads, df_max(1, ROW_GRAIN / D), l2norm_task, &rows);
    return DF_OK;
}

static void rms_gate_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct rows *r = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        r->kernels->rms_gate((float *)r->y + i * r->n, r->x + i * r->n, r->w, r->g + i * r->n, r->n, r->p);
}

int32_t df_head_rms_gate(df_queue *q, df_addr y, df_addr o, df_addr w, df_addr g, int64_t heads, int64_t D, int32_t T,
                         float eps) {
    int32_t status = check_heads(q, "df_head_rms_gate", y, o, w, g, heads, D, T);
    if (status) return status;
    DF_REQUIRE(q, eps >= 0, "df_head_rms_gate: eps %g", (double)eps);
    struct rows rows = {.kernels = DF_PICK(q->device, df_norm),
                        .y = df_f32(y),
                        .x = df_f32(o),
                        .w = df_f32(w),
                        .g = df_f32(g),
                        .n = D,
                        .p = eps};
    df_parallel(q, T * heads, df_max(1, ROW_GRAIN / D), rms_gate_task, &rows);
    return DF_OK;
}
