/* The KDA recurrence: checks, the split over heads and columns, and which rows reach the state. */
#include "kernels.h"

#include <string.h>

#define KDA_BLOCK 64     /* value columns of one work item: 64 x D floats stay in L1 over all rows */
#define KDA_GRAIN 131072 /* state elements times rows a thread should have before a second one is worth waking */

struct kda {
    const df_kda_op *op;
    const struct df_kda *kernels;
    float *scratch; /* a thread's copy of a block [D][KDA_BLOCK], for rows that must not reach the state */
    int64_t blocks; /* column blocks of a head */
};

static float *block_state(const struct kda *kda, int64_t item) {
    int64_t D = kda->op->D;
    return df_f32(kda->op->state) + item / kda->blocks * D * D + item % kda->blocks * KDA_BLOCK;
}

/* Rows up to `keep` work on the state itself, the others on a copy that is thrown away. */
static void kda_item(const struct kda *kda, int64_t item, int more, float *scratch) {
    const df_kda_op *op = kda->op;
    int64_t n = item / kda->blocks, j = item % kda->blocks * KDA_BLOCK, D = op->D, head = n * D;
    float *state = block_state(kda, item);
    struct df_kda_columns c = {
        .from = state,
        .to = state,
        .next = more ? block_state(kda, item + 1) : NULL,
        .from_stride = D,
        .to_stride = D,
        .D = D,
        .columns = df_min(KDA_BLOCK, D - j),
        .q = op->q ? df_f32(op->q) + head : NULL,
        .k = df_f32(op->k) + head,
        .alpha = df_f32(op->alpha) + head,
        .v = df_f32(op->v) + head + j,
        .out = op->out ? df_f32(op->out) + head + j : NULL,
        .beta = df_f32(op->beta) + n,
        .stride = op->heads * D,
        .beta_stride = op->heads,
        .begin = 0,
        .end = op->keep,
        .out_from = op->out_from,
    };
    if (op->keep > 0) kda->kernels->rows(&c);
    if (op->keep == op->T || op->out_from == op->T) return;
    c.begin = op->keep;
    c.end = op->T;
    c.to = scratch;
    c.to_stride = KDA_BLOCK;
    kda->kernels->rows(&c);
}

static void kda_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct kda *kda = ctx;
    for (int64_t i = begin; i < end; i++)
        kda_item(kda, i, i + 1 < end, kda->scratch ? kda->scratch + thread * kda->op->D * KDA_BLOCK : NULL);
}

int32_t df_kda(df_queue *q, const df_kda_op *op) {
    DF_REQUIRE(q, q, "df_kda: queue is null");
    DF_REQUIRE(q, op, "df_kda: op is null");
    DF_REQUIRE(q, op->heads > 0 && op->D > 0 && op->T > 0, "df_kda: heads %lld, D %lld, T %d", (long long)op->heads,
               (long long)op->D, op->T);
    DF_REQUIRE(q, op->keep >= 0 && op->keep <= op->T, "df_kda: keep %d of %d rows", op->keep, op->T);
    DF_REQUIRE(q, op->out_from >= 0 && op->out_from <= op->T, "df_kda: output from row %d of %d", op->out_from, op->T);
    DF_REQUIRE(q, op->state && op->k && op->v && op->alpha && op->beta, "df_kda: null address");
    DF_REQUIRE(q, op->out_from == op->T || (op->q && op->out), "df_kda: null address of q or out");
    struct kda kda = {op, DF_PICK(q->device, df_kda), NULL, df_ceil_div(op->D, KDA_BLOCK)};
    if (op->keep < op->T) {
        kda.scratch =
            df_scratch(q, DF_SCRATCH_VECTOR, (size_t)(q->device->threads * op->D * KDA_BLOCK) * sizeof(float));
        if (!kda.scratch) return DF_E_MEMORY;
    }
    int64_t work = op->D * df_min(op->D, KDA_BLOCK) * op->T;
    int64_t items = op->heads * kda.blocks, grain = items / (8 * (int64_t)q->device->threads);
    df_parallel(q, items, df_max(df_max(1, grain), KDA_GRAIN / work), kda_task, &kda);
    return DF_OK;
}
