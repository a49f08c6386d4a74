/*
 * Routed experts: two rounds of work items (expert, row block). The first multiplies a block of gate rows and the same
 * block of up rows, applies the activation and leaves the block of `hidden` in the order in which the second decodes
 * w2.
 */
#include "kernels.h"
#include "matmul.h"

#define BLOCK 64     /* rows a work item: a whole group of the columns of w2 */
#define MOST_ROWS 64 /* of x at a time, so that a thread's gate and up blocks stay in its cache */

struct expert {
    const df_expert_op *op;
    const float **x; /* [count] arranged latent rows */
    float **h;       /* [count] rows of hidden */
    float **result;  /* [count] rows of results */
};

/* A thread's own gate and up blocks. */
struct work {
    float gate[MOST_ROWS * BLOCK], up[MOST_ROWS * BLOCK];
};

struct call {
    const struct df_matmul *matmul;
    const struct df_vector *vector;
    const df_expert_shape *shape;
    struct expert *experts;
    struct work *work;
    int64_t blocks; /* of this round's matrix */
};

static void activate(const struct call *call, float *gate, const float *up, int64_t n) {
    const df_expert_shape *shape = call->shape;
    if (shape->activation == DF_ACT_SILU)
        call->vector->silu(gate, gate, up, n);
    else
        call->vector->situ(gate, gate, up, n, shape->b1, shape->b2);
}

static void gate_and_up(void *ctx, int64_t item, int64_t end, int32_t thread) {
    struct call *call = ctx;
    struct work *work = &call->work[thread];
    const df_expert_shape *shape = call->shape;
    float *gate[MOST_ROWS], *up[MOST_ROWS];
    for (int32_t t = 0; t < MOST_ROWS; t++) {
        gate[t] = work->gate + BLOCK * t;
        up[t] = work->up + BLOCK * t;
    }
    for (; item < end; item++) {
        const struct expert *e = &call->experts[item / call->blocks];
        const int64_t first = item % call->blocks * BLOCK, past = df_min(first + BLOCK, shape->F);
        for (int32_t from = 0; from < e->op->count; from += MOST_ROWS) {
            const int32_t T = (int32_t)df_min(MOST_ROWS, e->op->count - from);
            struct df_rows rows = {
                df_bytes(e->op->w1), df_bytes(e->op->w1_scales), shape->Z, first, past, first, e->x + from, gate, T,
                e->op->format};
            call->matmul->multiply(&rows);
            rows.w = df_bytes(e->op->w3);
            rows.scales = df_bytes(e->op->w3_scales);
            rows.y = up;
            call->matmul->multiply(&rows);
            for (int32_t t = 0; t < T; t++) {
                activate(call, gate[t], up[t], past - first);
                call->matmul->arrange(e->op->format, e->h[from + t] + first, gate[t], past - first);
            }
        }
    }
}

static void down(void *ctx, int64_t item, int64_t end, int32_t thread) {
    struct call *call = ctx;
    (void)thread;
    for (; item < end; item++) {
        const struct expert *e = &call->experts[item / call->blocks];
        const int64_t first = item % call->blocks * BLOCK;
        struct df_rows rows = {df_bytes(e->op->w2),
                               df_bytes(e->op->w2_scales),
                               call->shape->F,
                               first,
                               df_min(first + BLOCK, call->shape->Z),
                               0,
                               (const float *const *)e->h,
                               e->result,
                               e->op->count,
                               e->op->format};
        call->matmul->multiply(&rows);
    }
}

/* ---- checks --------------------------------------------------------------------------------------------------------
 */

static int32_t check_shape(df_queue *q, const df_expert_shape *s) {
    DF_REQUIRE(q, s, "df_experts: shape is null");
    DF_REQUIRE(q, s->x && s->hidden && s->results, "df_experts: null address in the shape");
    DF_REQUIRE(q, s->Z > 0 && s->F > 0 && s->Z < INT64_C(1) << 28 && s->F < INT64_C(1) << 28 && s->k > 0,
               "df_experts: Z %lld, F %lld, k %d is no shape", (long long)s->Z, (long long)s->F, s->k);
    DF_REQUIRE(q, s->activation == DF_ACT_SITU || s->activation == DF_ACT_SILU, "df_experts: %d is no activation",
               s->activation);
    DF_REQUIRE(q, s->activation != DF_ACT_SITU || (s->b1 > 0 && s->b2 >= 0), "df_experts: SiTU bounds %g and %g",
               (double)s->b1, (double)s->b2);
    return DF_OK;
}

static int32_t check_expert(df_queue *q, const df_expert_shape *s, const df_expert_op *op, int32_t i) {
    DF_REQUIRE(q, df_format_known(op->format), "df_experts: expert %d: %d is no weight format", i, op->format);
    DF_REQUIRE(q, op->w1 && op->w2 && op->w3 && op->pairs, "df_experts: expert %d: null address", i);
    DF_REQUIRE(q, op->format != DF_MXFP4 || (op->w1_scales && op->w2_scales && op->w3_scales),
               "df_experts: expert %d: MXFP4 without scales", i);
    DF_REQUIRE(q, op->format != DF_MXFP4 || (s->Z % DF_MX_BLOCK == 0 && s->F % DF_MX_BLOCK == 0),
               "df_experts: expert %d: MXFP4 needs multiples of 32, not Z %lld and F %lld", i, (long long)s->Z,
               (long long)s->F);
    DF_REQUIRE(q, op->count >= 1, "df_experts: expert %d: %d pairs", i, op->count);
    for (int32_t p = 0; p < op->count; p++)
        DF_REQUIRE(q, op->pairs[p] >= 0 && (p == 0 || op->pairs[p] / s->k > op->pairs[p - 1] / s->k),
                   "df_experts: expert %d: pair %d (%d) is out of order", i, p, op->pairs[p]);
    return DF_OK;
}

/* ---- entry points --------------------------------------------------------------------------------------------------
 */

/* Fills call->experts and its tables, and arranges every latent row that an expert of this call chose, once. */
static int32_t prepare(df_queue *q, struct call *call, const df_expert_op *ops, int32_t n) {
    const df_expert_shape *shape = call->shape;
    int64_t pairs = 0, rows = 0;
    for (int32_t i = 0; i < n; i++) {
        pairs += ops[i].count;
        rows = df_max(rows, ops[i].pairs[ops[i].count - 1] / shape->k + 1);
    }
    const int64_t stride = df_arranged_stride(shape->Z);
    const int kinds = 2; /* orders of x: MXFP4, and the others */
    size_t table_bytes = (size_t)n * sizeof(struct expert) + 3 * (size_t)pairs * sizeof(void *) +
                         (size_t)(kinds * rows) * sizeof(float *);
    struct expert *experts = df_scratch(q, DF_SCRATCH_TABLE, table_bytes);
    float *arranged = df_scratch(q, DF_SCRATCH_INPUT, (size_t)(df_min(pairs, kinds * rows) * stride) * sizeof(float));
    call->work = df_scratch(q, DF_SCRATCH_WORK, (size_t)q->device->threads * sizeof *call->work);
    if (!experts || !arranged || !call->work) return DF_E_MEMORY;
    const float **next = (const float **)(experts + n);
    float **row_at = (float **)(next + 3 * pairs);
    memset(row_at, 0, (size_t)(kinds * rows) * sizeof *row_at);
    for (int32_t i = 0; i < n; i++) {
        const df_expert_op *op = &ops[i];
        experts[i] = (struct expert){op, next, (float **)(next + op->count), (float **)(next + 2 * op->count)};
        next += 3 * op->count;
        for (int32_t p = 0; p < op->count; p++) {
            const int64_t pair = op->pairs[p], row = pair / shape->k;
            float **at = &row_at[(op->format == DF_MXFP4) * rows + row];
            if (!*at) {
                *at = arranged;
                df_arrange(q, op->format, arranged, df_f32(shape->x) + row * shape->Z, shape->Z, shape->Z, 1);
                arranged += stride;
            }
            experts[i].x[p] = *at;
            experts[i].h[p] = df_f32(shape->hidden) + pair * shape->F;
            experts[i].result[p] = df_f32(shape->results) + pair * shape->Z;
        }
    }
    call->experts = experts;
    return DF_OK;
}

int32_t df_experts(df_queue *q, const df_expert_shape *shape, const df_expert_op *ops, int32_t n) {
    DF_REQUIRE(NULL, q, "df_experts: queue is null");
    int32_t status = check_shape(q, shape);
    if (status) return status;
    DF_REQUIRE(q, n >= 0 && (n == 0 || ops), "df_experts: n = %d, or ops is null", n);
    for (int32_t i = 0; i < n; i++)
        if ((status = check_expert(q, shape, &ops[i], i))) return status;
    if (n == 0) return DF_OK;
    struct call call = {
        .matmul = DF_PICK(q->device, df_matmul), .vector = DF_PICK(q->device, df_vector), .shape = shape};
    if ((status = prepare(q, &call, ops, n))) return status;
    call.blocks = df_ceil_div(shape->F, BLOCK);
    df_parallel(q, n * call.blocks, 1, gate_and_up, &call);
    call.blocks = df_ceil_div(shape->Z, BLOCK);
    df_parallel(q, n * call.blocks, 1, down, &call);
    return DF_OK;
}
