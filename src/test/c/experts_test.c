/* df_experts and df_expert_sum: every instruction set and thread count against products by df_matmul and activations of
 * df_math.h, all pairs at once against expert by expert and row by row; bit for bit. */
#include "test.h"

#include "df_math.h"

struct shape {
    int32_t format;
    int64_t Z, F;
    int32_t experts, k, T, activation;
    float b2;
    uint64_t hash;
};

/* F of no whole group, one block of columns, more rows for one expert than are taken at a time. */
static const struct shape shapes[] = {
    {DF_MXFP4, 64, 32, 4, 2, 1, DF_ACT_SITU, 2.5f, 0x1ce93cf27aeeaba4},
    {DF_MXFP4, 96, 160, 5, 3, 7, DF_ACT_SITU, 0, 0x043db7a1ff105f50},
    {DF_MXFP4, 224, 192, 6, 4, 40, DF_ACT_SILU, 0, 0x97627e38d3f32c0d},
    {DF_BF16, 50, 77, 4, 2, 9, DF_ACT_SITU, 2.5f, 0x9cd91dcfb9158419},
    {DF_F32, 33, 64, 3, 2, 5, DF_ACT_SILU, 0, 0x450d235eb9a9e290},
    {DF_MXFP4, 128, 96, 2, 1, 150, DF_ACT_SITU, 1.5f, 0xdc527ae4c35cfe8e},
};
#define SHAPES (int)(sizeof shapes / sizeof *shapes)
#define MOST_EXPERTS 8

struct problem {
    struct shape shape;
    df_expert_op ops[MOST_EXPERTS];
    int32_t *pairs[MOST_EXPERTS];
    void *weights[MOST_EXPERTS][6];
    float *x, *route_weights;
};

static int64_t weight_bytes(int32_t format, int64_t n) {
    return format == DF_MXFP4 ? n / 2 : format == DF_BF16 ? 2 * n : 4 * n;
}

/* Bytes that widen to modest finite floats, and scales near 1/256. */
static void *draw_weights(int32_t format, int64_t n, uint64_t seed) {
    uint8_t *w = test_memory((size_t)weight_bytes(format, n));
    for (int64_t i = 0; i < n; i++) {
        float value = test_float(&seed) / 8;
        if (format == DF_F32) memcpy(w + 4 * i, &value, 4);
        if (format == DF_BF16) memcpy(w + 2 * i, (uint8_t *)&value + 2, 2);
        if (format == DF_MXFP4 && i % 2) w[i / 2] = (uint8_t)test_next(&seed);
    }
    return w;
}

static void *draw_scales(int64_t n, uint64_t seed) {
    uint8_t *s = test_memory((size_t)n);
    for (int64_t i = 0; i < n; i++)
        s[i] = (uint8_t)(119 + test_next(&seed) % 5);
    return s;
}

/* Row t chooses k experts in a row, from a random one on. */
static void draw_routes(struct problem *p, uint64_t seed) {
    const struct shape *s = &p->shape;
    for (int e = 0; e < s->experts; e++)
        p->pairs[e] = test_memory((size_t)s->T * sizeof(int32_t));
    for (int32_t t = 0; t < s->T; t++) {
        int first = (int)(test_next(&seed) % (uint64_t)s->experts);
        for (int32_t slot = 0; slot < s->k; slot++) {
            int e = (first + slot) % s->experts;
            p->pairs[e][p->ops[e].count++] = t * s->k + slot;
        }
    }
}

static struct problem new_problem(const struct shape *s, uint64_t seed) {
    struct problem p = {.shape = *s};
    const int64_t n = s->Z * s->F;
    for (int e = 0; e < s->experts; e++) {
        for (int m = 0; m < 3; m++) {
            p.weights[e][2 * m] = draw_weights(s->format, n, test_next(&seed));
            p.weights[e][2 * m + 1] = draw_scales(n / 32 + 1, test_next(&seed));
        }
        df_addr a[6];
        for (int m = 0; m < 6; m++)
            a[m] = test_address(p.weights[e][m]);
        p.ops[e] = (df_expert_op){a[0], a[1], a[2], a[3], a[4], a[5], NULL, 0, s->format};
    }
    draw_routes(&p, test_next(&seed));
    for (int e = 0; e < s->experts; e++)
        p.ops[e].pairs = p.pairs[e];
    p.x = test_memory((size_t)(s->T * s->Z) * sizeof(float));
    test_floats(p.x, s->T * s->Z, test_next(&seed));
    p.route_weights = test_memory((size_t)(s->T * s->k) * sizeof(float));
    test_floats(p.route_weights, s->T * s->k, test_next(&seed));
    return p;
}

static void free_problem(struct problem *p) {
    for (int e = 0; e < p->shape.experts; e++) {
        for (int m = 0; m < 6; m++)
            free(p->weights[e][m]);
        free(p->pairs[e]);
    }
    free(p->x);
    free(p->route_weights);
}

static void product(df_queue *q, const struct shape *s, df_addr w, df_addr scales, int64_t rows, int64_t cols,
                    const float *x, float *y) {
    df_matmul_op op = {w, scales, test_address(x), test_address(y), rows, cols, cols, rows, s->format, 0};
    test_ok(q, df_matmul(q, &op, 1, 1));
}

/* results [T*k][Z], one pair at a time. */
static float *reference(df_queue *q, const struct problem *p) {
    const struct shape *s = &p->shape;
    float *results = test_memory((size_t)(s->T * s->k * s->Z) * sizeof(float));
    float *g = test_memory((size_t)s->F * sizeof(float)), *u = test_memory((size_t)s->F * sizeof(float));
    for (int e = 0; e < s->experts; e++)
        for (int32_t i = 0; i < p->ops[e].count; i++) {
            const df_expert_op *op = &p->ops[e];
            const float *x = p->x + op->pairs[i] / s->k * s->Z;
            product(q, s, op->w1, op->w1_scales, s->F, s->Z, x, g);
            product(q, s, op->w3, op->w3_scales, s->F, s->Z, x, u);
            for (int64_t f = 0; f < s->F; f++)
                g[f] = s->activation == DF_ACT_SILU ? df_siluf(g[f]) * u[f]
                       : s->b2 != 0                 ? df_situf(g[f], u[f], 3.0f, s->b2)
                                                    : df_situ_uncappedf(g[f], u[f], 3.0f);
            product(q, s, op->w2, op->w2_scales, s->Z, s->F, g, results + op->pairs[i] * s->Z);
        }
    free(g);
    free(u);
    return results;
}

static void weighted_sum(const struct problem *p, const float *results, float *out) {
    const struct shape *s = &p->shape;
    for (int64_t t = 0; t < s->T; t++)
        for (int64_t z = 0; z < s->Z; z++) {
            float sum = p->route_weights[t * s->k] * results[t * s->k * s->Z + z];
            for (int64_t i = 1; i < s->k; i++)
                sum = __builtin_fmaf(p->route_weights[t * s->k + i], results[(t * s->k + i) * s->Z + z], sum);
            out[t * s->Z + z] = sum;
        }
}

/* How the experts of one layer are handed over. */
enum split { AT_ONCE, ONE_BY_ONE, PAIR_BY_PAIR };

static void run_split(df_queue *q, const struct problem *p, const df_expert_shape *shape, enum split split) {
    df_expert_op ops[MOST_EXPERTS];
    int32_t n = 0;
    for (int e = 0; e < p->shape.experts; e++) {
        const df_expert_op *op = &p->ops[e];
        if (!op->count) continue;
        ops[n] = *op;
        if (split == AT_ONCE) n++;
        if (split == ONE_BY_ONE) test_ok(q, df_experts(q, shape, ops, 1));
        for (int32_t i = 0; split == PAIR_BY_PAIR && i < op->count; i++) {
            ops[0].pairs = op->pairs + i;
            ops[0].count = 1;
            test_ok(q, df_experts(q, shape, ops, 1));
        }
    }
    if (n) test_ok(q, df_experts(q, shape, ops, n));
}

static void check_problem(df_queue *q, const char *who, const struct problem *p, const float *expected) {
    const struct shape *s = &p->shape;
    const int64_t n = s->T * s->k * s->Z;
    float *hidden = test_memory((size_t)(s->T * s->k * s->F) * sizeof(float));
    float *results = test_memory((size_t)n * sizeof(float));
    float *out = test_memory((size_t)(s->T * s->Z) * sizeof(float));
    float *expected_out = test_memory((size_t)(s->T * s->Z) * sizeof(float));
    df_expert_shape shape = {
        test_address(p->x), test_address(hidden), test_address(results), s->Z, s->F, s->k, s->activation, 3.0f, s->b2};
    for (enum split split = AT_ONCE; split <= PAIR_BY_PAIR; split++) {
        memset(results, 0, (size_t)n * sizeof(float));
        run_split(q, p, &shape, split);
        int64_t at = test_difference(expected, results, n);
        CHECK(at < 0, "%s: format %d Z %lld F %lld T %d split %d: results[%lld] = %a, expected %a", who, s->format,
              (long long)s->Z, (long long)s->F, s->T, split, (long long)at, (double)results[at], (double)expected[at]);
    }
    test_ok(q, df_expert_sum(q, test_address(out), test_address(results), test_address(p->route_weights), s->Z, s->k,
                             s->T));
    weighted_sum(p, expected, expected_out);
    CHECK(test_difference(expected_out, out, s->T * s->Z) < 0, "%s: df_expert_sum Z %lld k %d", who, (long long)s->Z,
          s->k);
    free(hidden);
    free(results);
    free(out);
    free(expected_out);
}

static void test_shapes(df_queue *q, df_queue *scalar, const char *who, int print) {
    for (int i = 0; i < SHAPES; i++) {
        struct problem p = new_problem(&shapes[i], 40 + (uint64_t)i);
        float *expected = reference(scalar, &p);
        check_problem(q, who, &p, expected);
        if (print) {
            char name[64];
            snprintf(name, sizeof name, "format %d, Z %lld, F %lld, T %d", p.shape.format, (long long)p.shape.Z,
                     (long long)p.shape.F, p.shape.T);
            test_golden(name, test_hash(TEST_HASH, expected, p.shape.T * p.shape.k * p.shape.Z), p.shape.hash);
        }
        free(expected);
        free_problem(&p);
    }
}

static void test_refusals(df_queue *q) {
    struct problem p = new_problem(&shapes[0], 1);
    float hidden[64], results[256];
    int32_t descending[2] = {3, 0}, twice[2] = {2, 3}, negative[1] = {-1};
    df_expert_shape good = {
        test_address(p.x), test_address(hidden), test_address(results), 64, 32, 2, DF_ACT_SITU, 3, 2};
    df_expert_shape bad;
    df_expert_op op = p.ops[0], bad_op;
    op.pairs = (int32_t[]){0};
    op.count = 1;
    CHECK(df_experts(q, &good, &op, 1) == DF_OK, "%s", df_queue_error(q));
    CHECK(df_experts(NULL, &good, &op, 1) == DF_E_ARGUMENT, "null queue");
    CHECK(df_experts(q, NULL, &op, 1) == DF_E_ARGUMENT, "null shape");
    CHECK(df_experts(q, &good, NULL, 1) == DF_E_ARGUMENT, "null ops");
    CHECK(df_experts(q, &good, &op, 0) == DF_OK, "no experts");
#define SHAPE_REFUSED(change)                                                                                          \
    bad = good;                                                                                                        \
    bad.change;                                                                                                        \
    CHECK(df_experts(q, &bad, &op, 1) == DF_E_ARGUMENT, #change)
    SHAPE_REFUSED(x = 0);
    SHAPE_REFUSED(hidden = 0);
    SHAPE_REFUSED(results = 0);
    SHAPE_REFUSED(Z = 33);
    SHAPE_REFUSED(F = 0);
    SHAPE_REFUSED(k = 0);
    SHAPE_REFUSED(activation = 3);
    SHAPE_REFUSED(b1 = 0);
#define OP_REFUSED(change)                                                                                             \
    bad_op = op;                                                                                                       \
    bad_op.change;                                                                                                     \
    CHECK(df_experts(q, &good, &bad_op, 1) == DF_E_ARGUMENT, #change)
    OP_REFUSED(w1 = 0);
    OP_REFUSED(w2_scales = 0);
    OP_REFUSED(format = 0);
    OP_REFUSED(count = 0);
    OP_REFUSED(pairs = NULL);
    OP_REFUSED(pairs = negative);
    bad_op.count = 2;
    bad_op.pairs = descending;
    CHECK(df_experts(q, &good, &bad_op, 1) == DF_E_ARGUMENT, "descending pairs");
    bad_op.pairs = twice;
    CHECK(df_experts(q, &good, &bad_op, 1) == DF_E_ARGUMENT, "one row twice");
    CHECK(df_expert_sum(q, 0, 8, 8, 1, 1, 1) == DF_E_ARGUMENT, "null out");
    CHECK(df_expert_sum(q, 8, 8, 8, 1, 1, 0) == DF_E_ARGUMENT, "T = 0");
    free_problem(&p);
}

int main(int argc, char **argv) {
    int quick = test_quick(argc, argv);
    df_device *scalar_device = test_device(DF_ISA_SCALAR, 1);
    df_queue *scalar = test_queue(scalar_device);
    for (int32_t isa = DF_ISA_SCALAR; isa <= DF_ISA_NEON; isa++)
        for (int32_t threads = 1; threads <= (quick ? 2 : 8); threads++) {
            df_device *device = test_device(isa, threads);
            if (!device) {
                if (threads == 1) printf("skipped %s: %s\n", test_isa_names[isa], df_last_error());
                continue;
            }
            char who[32];
            snprintf(who, sizeof who, "%s, %d threads", test_isa_names[isa], threads);
            printf("%s\n", who);
            df_queue *q = test_queue(device);
            test_shapes(q, scalar, who, isa == DF_ISA_SCALAR && threads == 1);
            test_refusals(q);
            df_queue_close(q);
            df_device_close(device);
        }
    df_queue_close(scalar);
    df_device_close(scalar_device);
    return test_end();
}
