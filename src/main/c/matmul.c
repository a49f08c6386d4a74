/* df_matmul and df_mla_expand: checks, the arranged copies of x, and the split into row blocks. */
#include "matmul.h"

/* Weight bytes of a work item: large against the cost of taking it, small against a matrix shared by many threads. */
#define ITEM_BYTES (96 << 10)
/* Multiply-adds below which waking threads costs more than it saves. */
#define INLINE_WORK (32 << 10)

struct product {
    struct df_rows rows;
    int64_t block;      /* rows a work item */
    int64_t first_item; /* number of its first item in the call */
};

struct call {
    const struct df_matmul *kernels;
    struct product *products;
    int32_t n;
};

static void run_items(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    struct call *call = ctx;
    (void)thread;
    int32_t low = 0;
    for (int64_t item = begin; item < end; item++) {
        while (low + 1 < call->n && call->products[low + 1].first_item <= item)
            low++;
        struct product *p = &call->products[low];
        struct df_rows rows = p->rows;
        rows.begin = (item - p->first_item) * p->block;
        rows.end = df_min(rows.begin + p->block, p->rows.end);
        call->kernels->multiply(&rows);
    }
}

/* Rows a work item: a multiple of 16, so that kernels which take several rows at once meet no ragged blocks. */
static int64_t block_rows(const struct df_rows *rows) {
    int64_t bytes = df_max(1, df_row_bytes(rows->format, rows->cols));
    return df_max(16, df_min(1024, ITEM_BYTES / bytes) / 16 * 16);
}

static void run_products(df_queue *q, struct product *products, int32_t n) {
    int64_t items = 0;
    double work = 0;
    for (int32_t i = 0; i < n; i++) {
        struct df_rows *rows = &products[i].rows;
        products[i].block = block_rows(rows);
        products[i].first_item = items;
        items += df_ceil_div(rows->end, products[i].block);
        work += (double)rows->end * (double)rows->cols * rows->T;
    }
    struct call call = {DF_PICK(q->device, df_matmul), products, n};
    df_parallel(q, items, work < INLINE_WORK ? items : 1, run_items, &call);
}

/* ---- arranged rows of x --------------------------------------------------------------------------------------------
 */

struct arranging {
    const struct df_matmul *kernels;
    const float *x;
    float *to;
    int64_t x_stride, to_stride, cols;
    int32_t format;
};

static void arrange_rows(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    struct arranging *a = ctx;
    (void)thread;
    for (int64_t t = begin; t < end; t++)
        a->kernels->arrange(a->format, a->to + t * a->to_stride, a->x + t * a->x_stride, a->cols);
}

int64_t df_arranged_stride(int64_t cols) {
    return (cols + 15) / 16 * 16;
}

void df_arrange(df_queue *q, int32_t format, float *to, const float *x, int64_t x_stride, int64_t cols, int32_t T) {
    struct arranging a = {DF_PICK(q->device, df_matmul), x, to, x_stride, df_arranged_stride(cols), cols, format};
    df_parallel(q, T, (int64_t)T * cols < INLINE_WORK ? T : df_ceil_div(T, 4 * q->device->threads), arrange_rows, &a);
}

/* bf16 and f32 weights share one order of x. */
static int same_input(const df_matmul_op *a, const df_matmul_op *b) {
    return a->x == b->x && a->x_stride == b->x_stride && a->cols == b->cols &&
           (a->format == DF_MXFP4) == (b->format == DF_MXFP4);
}

/* ---- entry points --------------------------------------------------------------------------------------------------
 */

static int32_t check_op(df_queue *q, const df_matmul_op *op, int32_t i, int32_t T) {
    DF_REQUIRE(q, df_format_known(op->format), "df_matmul: op %d: %d is no weight format", i, op->format);
    DF_REQUIRE(q, op->rows > 0 && op->cols > 0, "df_matmul: op %d: %lld x %lld is no shape", i, (long long)op->rows,
               (long long)op->cols);
    DF_REQUIRE(q, op->rows < INT64_C(1) << 40 && op->cols < INT64_C(1) << 28,
               "df_matmul: op %d: %lld x %lld is too large", i, (long long)op->rows, (long long)op->cols);
    DF_REQUIRE(q, op->w && op->x && op->y, "df_matmul: op %d: null address", i);
    DF_REQUIRE(q, op->format != DF_MXFP4 || op->scales, "df_matmul: op %d: MXFP4 without scales", i);
    DF_REQUIRE(q, op->format != DF_MXFP4 || op->cols % DF_MX_BLOCK == 0,
               "df_matmul: op %d: MXFP4 needs a multiple of 32 columns, not %lld", i, (long long)op->cols);
    DF_REQUIRE(q, T == 1 || (op->x_stride >= op->cols && op->y_stride >= op->rows),
               "df_matmul: op %d: row strides %lld and %lld are too small for %lld x %lld", i, (long long)op->x_stride,
               (long long)op->y_stride, (long long)op->rows, (long long)op->cols);
    return DF_OK;
}

int32_t df_matmul(df_queue *q, const df_matmul_op *ops, int32_t n, int32_t T) {
    DF_REQUIRE(NULL, q, "df_matmul: queue is null");
    DF_REQUIRE(q, n >= 0 && T >= 1, "df_matmul: n = %d, T = %d", n, T);
    DF_REQUIRE(q, n == 0 || ops, "df_matmul: ops is null");
    int64_t floats = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t status = check_op(q, &ops[i], i, T);
        if (status) return status;
        int32_t first = 0;
        while (!same_input(&ops[first], &ops[i]))
            first++;
        if (first == i) floats += df_arranged_stride(ops[i].cols) * T;
    }
    size_t pointers = 2 * (size_t)n * (size_t)T;
    float *arranged = df_scratch(q, DF_SCRATCH_INPUT, (size_t)floats * sizeof *arranged);
    void *table = df_scratch(q, DF_SCRATCH_TABLE, (size_t)n * sizeof(struct product) + pointers * sizeof(void *));
    if (n == 0) return DF_OK;
    if (!arranged || !table) return DF_E_MEMORY;
    struct product *products = table;
    const float **x = (const float **)(products + n);
    float **y = (float **)(x + (size_t)n * (size_t)T);
    for (int32_t i = 0; i < n; i++, x += T, y += T) {
        const df_matmul_op *op = &ops[i];
        int32_t first = 0;
        while (!same_input(&ops[first], op))
            first++;
        if (first == i) df_arrange(q, op->format, arranged, df_f32(op->x), op->x_stride, op->cols, T);
        for (int32_t t = 0; t < T; t++) {
            x[t] = first == i ? arranged + t * df_arranged_stride(op->cols) : products[first].rows.x[t];
            y[t] = df_f32(op->y) + t * op->y_stride;
        }
        if (first == i) arranged += df_arranged_stride(op->cols) * T;
        products[i].rows =
            (struct df_rows){df_bytes(op->w), df_bytes(op->scales), op->cols, 0, op->rows, 0, x, y, T, op->format};
    }
    run_products(q, products, n);
    return DF_OK;
}

int32_t df_mla_expand(df_queue *q, const df_mla_shape *shape, df_addr out, df_addr mixed, int32_t T) {
    DF_REQUIRE(NULL, q, "df_mla_expand: queue is null");
    DF_REQUIRE(q, shape && shape->kv_b && out && mixed, "df_mla_expand: null address");
    DF_REQUIRE(q, shape->format == DF_BF16 || shape->format == DF_F32,
               "df_mla_expand: kv_b is BF16 or F32, not format %d", shape->format);
    DF_REQUIRE(q, shape->heads > 0 && shape->dn >= 0 && shape->dv > 0 && shape->Rc > 0 && T >= 1,
               "df_mla_expand: heads %d, dn %lld, dv %lld, Rc %lld, T %d", shape->heads, (long long)shape->dn,
               (long long)shape->dv, (long long)shape->Rc, T);
    int64_t heads = shape->heads, Rc = shape->Rc, stride = df_arranged_stride(Rc);
    size_t pointers = (size_t)heads * (size_t)T;
    float *arranged = df_scratch(q, DF_SCRATCH_INPUT, pointers * (size_t)stride * sizeof *arranged);
    void *table =
        df_scratch(q, DF_SCRATCH_TABLE, (size_t)heads * sizeof(struct product) + 2 * pointers * sizeof(void *));
    if (!arranged || !table) return DF_E_MEMORY;
    df_arrange(q, shape->format, arranged, df_f32(mixed), Rc, Rc, (int32_t)pointers);
    struct product *products = table;
    const float **x = (const float **)(products + heads);
    float **y = (float **)(x + pointers);
    for (int64_t head = 0; head < heads; head++, x += T, y += T) {
        for (int32_t t = 0; t < T; t++) {
            x[t] = arranged + (t * heads + head) * stride;
            y[t] = df_f32(out) + (t * heads + head) * shape->dv;
        }
        const uint8_t *values =
            df_bytes(shape->kv_b) + (head * (shape->dn + shape->dv) + shape->dn) * df_row_bytes(shape->format, Rc);
        products[head].rows = (struct df_rows){values, NULL, Rc, 0, shape->dv, 0, x, y, T, shape->format};
    }
    run_products(q, products, (int32_t)heads);
    return DF_OK;
}
