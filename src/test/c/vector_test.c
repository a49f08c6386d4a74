/* Elementwise and row operations: every instruction set, thread count and chunking against the scalar twin bit for bit;
 * the values against double precision; the sums against the order that docs/arithmetic.md words. */
#include "every_device.h"

#include <math.h>

/* A problem of T rows of n columns; what a, b, w and the parameters mean is the operation's. */
struct problem {
    int64_t n, heads;
    int32_t T, k;
    float *a, *b, *w;
    float p, r;
    int32_t kind;
};

static df_addr row(const float *x, int64_t at) {
    return test_address(x + at);
}

static struct problem new_problem(int64_t n, int64_t heads, int32_t T, int32_t k, float spread, uint64_t seed) {
    struct problem p = {.n = n, .heads = heads, .T = T, .k = k};
    int64_t values = n * heads * (T + 64) * k;
    p.a = test_memory((size_t)values * sizeof(float));
    p.b = test_memory((size_t)values * sizeof(float));
    p.w = test_memory((size_t)values * sizeof(float));
    test_floats(p.a, values, seed);
    test_floats(p.b, values, seed + 1);
    test_floats(p.w, values, seed + 2);
    for (int64_t i = 0; i < values; i++) {
        p.a[i] *= spread;
        p.b[i] *= spread;
    }
    return p;
}

static void free_problem(struct problem *p) {
    free(p->a);
    free(p->b);
    free(p->w);
}

static double sig(double x) {
    return 1 / (1 + exp(-x));
}

/* ---- elementwise ---------------------------------------------------------------------------------------------------
 */

enum kind { ADD, EXP, SIGMOID, GATE, SITU, SITU_UNCAPPED, SILU, KINDS };
static const char *const kind_names[] = {"add", "exp", "sigmoid", "gate", "situ", "situ uncapped", "silu"};

static int32_t map_call(df_queue *q, const struct problem *p, df_addr y, df_addr a, df_addr b, int64_t n) {
    switch (p->kind) {
    case ADD:
        return df_add(q, y, b, n);
    case EXP:
        return df_exp(q, y, a, n);
    case SIGMOID:
        return df_sigmoid(q, y, a, n);
    case GATE:
        return df_gate(q, y, a, b, n);
    case SITU:
        return df_activate(q, y, a, b, n, DF_ACT_SITU, p->p, p->r);
    case SITU_UNCAPPED:
        return df_activate(q, y, a, b, n, DF_ACT_SITU, p->p, 0);
    default:
        return df_activate(q, y, a, b, n, DF_ACT_SILU, 0, 0);
    }
}

static double map_exact(const struct problem *p, double a, double b) {
    switch (p->kind) {
    case ADD:
        return a + b;
    case EXP:
        return exp(a);
    case SIGMOID:
        return sig(a);
    case GATE:
        return a * sig(b);
    case SITU:
        return (double)p->p * tanh(a / (double)p->p) * sig(a) * (double)p->r * tanh(b / (double)p->r);
    case SITU_UNCAPPED:
        return (double)p->p * tanh(a / (double)p->p) * sig(a) * b;
    default:
        return a * sig(a) * b;
    }
}

static void run_map(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    if (p->kind == ADD) memcpy(out, p->a, (size_t)(p->T * p->n) * sizeof *out);
    for (int32_t t = 0; t < p->T; t += step) {
        int64_t at = t * p->n, n = (t + step < p->T ? step : p->T - t) * p->n;
        test_ok(q, map_call(q, p, row(out, at), row(p->a, at), row(p->b, at), n));
    }
}

static void check_maps(int quick) {
    static const int64_t sizes[] = {1, 63, 64, 65, 1000, 20011};
    static const uint64_t hashes[KINDS] = {0x4b8855dce0aabe6e, 0xe840c50c911da7de, 0xa59a04093eb5cb94,
                                           0x8c8e8e97f95c1275, 0xc8e1f57b041327d3, 0xe1d69ae55c986a22,
                                           0x71edbd41d359c891};
    for (int kind = 0; kind < KINDS; kind++) {
        uint64_t hash = 0;
        for (int s = 0; s < (quick ? 5 : 6); s++) {
            struct problem p = new_problem(sizes[s], 1, s < 5 ? 5 : 3, 1, 30, 11 + (uint64_t)s);
            int64_t n = p.n * p.T;
            p.kind = kind;
            p.p = 4;
            p.r = 25;
            float *out = test_memory((size_t)n * sizeof *out), *same = test_memory((size_t)n * sizeof *same);
            double *exact = test_memory((size_t)n * sizeof *exact);
            uint64_t h = every_run(kind_names[kind], run_map, &p, p.T, out, n);
            if (s < 5) hash ^= h;
            for (int64_t i = 0; i < n; i++)
                exact[i] = map_exact(&p, (double)p.a[i], (double)p.b[i]);
            check_close(kind_names[kind], out, exact, n, 6e-7, 1e-37);
            for (int i = 0; i < every_count; i++) { /* y may be either input */
                memcpy(same, p.a, (size_t)n * sizeof *same);
                test_ok(every[i].queue, map_call(every[i].queue, &p, row(same, 0), row(same, 0), row(p.b, 0), n));
                CHECK(test_difference(out, same, n) < 0, "%s in place", kind_names[kind]);
                if (kind < GATE) continue;
                memcpy(same, p.b, (size_t)n * sizeof *same);
                test_ok(every[i].queue, map_call(every[i].queue, &p, row(same, 0), row(p.a, 0), row(same, 0), n));
                CHECK(test_difference(out, same, n) < 0, "%s in place of its second input", kind_names[kind]);
            }
            free(exact);
            free(same);
            free(out);
            free_problem(&p);
        }
        test_golden(kind_names[kind], hash, hashes[kind]);
    }
}

/* ---- rows with a sum -----------------------------------------------------------------------------------------------
 */

static int32_t at_most(const struct problem *p, int32_t t, int32_t step) {
    return t + step < p->T ? step : p->T - t;
}

static void run_rms(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_rms(q, row(out, t * p->n), p->n, row(p->a, t * (p->n + 3)), p->n + 3, row(p->w, 0), p->n,
                          at_most(p, t, step), p->p));
}

static void run_l2(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    int64_t width = p->heads * p->n;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_l2norm(q, row(out, t * width), row(p->a, t * width), p->heads, p->n, at_most(p, t, step), p->p));
}

static void run_rms_gate(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    int64_t width = p->heads * p->n;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_head_rms_gate(q, row(out, t * width), row(p->a, t * width), row(p->w, 0), row(p->b, t * width),
                                    p->heads, p->n, at_most(p, t, step), p->p));
}

static void run_decay(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    int64_t width = p->heads * p->n;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_decay(q, row(out, t * width), row(p->a, t * width), row(p->w, 0), row(p->w, width), p->heads,
                            p->n, at_most(p, t, step), p->p));
}

/* Sources k, row stride n + 1, source stride T rows. */
static void run_mix(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_mix(q, row(out, t * p->n), p->n, row(p->a, t * (p->n + 1)), p->T * (p->n + 1), p->n + 1, p->k,
                          row(p->w, 0), p->n, at_most(p, t, step), p->p));
}

static void run_expert_sum(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_expert_sum(q, row(out, t * p->n), row(p->a, t * p->k * p->n), row(p->w, t * p->k), p->n, p->k,
                                 at_most(p, t, step)));
}

/* k taps; the window before row 0 is the first k - 1 rows of a. */
static void run_conv(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_short_conv(q, row(out, t * p->n), p->n, row(p->a, (t + p->k - 1) * (p->n + 2)), p->n + 2,
                                 row(p->w, 0), p->n, p->k, at_most(p, t, step)));
}

static double square_sum(const float *x, int64_t n) {
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += (double)x[c] * (double)x[c];
    return sum;
}

static void exact_rms(const struct problem *p, double *y) {
    for (int32_t t = 0; t < p->T; t++) {
        const float *x = p->a + t * (p->n + 3);
        double r = sqrt(square_sum(x, p->n) / (double)p->n + (double)p->p);
        for (int64_t c = 0; c < p->n; c++)
            y[t * p->n + c] = (double)p->w[c] * ((double)x[c] / r);
    }
}

static void exact_l2(const struct problem *p, double *y) {
    for (int64_t i = 0; i < p->T * p->heads; i++) {
        const float *x = p->a + i * p->n;
        double r = sqrt(square_sum(x, p->n) + 1e-6);
        for (int64_t c = 0; c < p->n; c++)
            y[i * p->n + c] = (double)p->p * ((double)x[c] / r);
    }
}

static void exact_rms_gate(const struct problem *p, double *y) {
    for (int64_t i = 0; i < p->T * p->heads; i++) {
        const float *o = p->a + i * p->n, *g = p->b + i * p->n;
        double r = sqrt(square_sum(o, p->n) / (double)p->n + (double)p->p);
        for (int64_t c = 0; c < p->n; c++)
            y[i * p->n + c] = (double)o[c] / r * (double)p->w[c] * sig((double)g[c]);
    }
}

static void exact_decay(const struct problem *p, double *y) {
    int64_t width = p->heads * p->n;
    for (int64_t i = 0; i < p->T * width; i++) {
        double a = (double)p->w[width + i % width / p->n], z = (double)p->a[i] + (double)p->w[i % width];
        double softplus = z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
        y[i] = p->p < 0 ? exp((double)p->p * sig(a * z)) : exp(-a * softplus);
    }
}

static void exact_mix(const struct problem *p, double *y) {
    for (int32_t t = 0; t < p->T; t++) {
        double e[64], max = -INFINITY, sum = 0;
        for (int32_t i = 0; i < p->k; i++) {
            const float *s = p->a + (i * p->T + t) * (p->n + 1);
            double r = sqrt(square_sum(s, p->n) / (double)p->n + (double)p->p);
            e[i] = 0;
            for (int64_t c = 0; c < p->n; c++)
                e[i] += (double)s[c] / r * (double)p->w[c];
            max = fmax(max, e[i]);
        }
        for (int32_t i = 0; i < p->k; i++)
            sum += e[i] = exp(e[i] - max);
        for (int64_t c = 0; c < p->n; c++) {
            double out = 0;
            for (int32_t i = 0; i < p->k; i++)
                out += e[i] / sum * (double)p->a[(i * p->T + t) * (p->n + 1) + c];
            y[t * p->n + c] = out;
        }
    }
}

static void exact_expert_sum(const struct problem *p, double *y) {
    for (int32_t t = 0; t < p->T; t++)
        for (int64_t z = 0; z < p->n; z++) {
            y[t * p->n + z] = 0;
            for (int32_t s = 0; s < p->k; s++)
                y[t * p->n + z] += (double)p->w[t * p->k + s] * (double)p->a[(t * p->k + s) * p->n + z];
        }
}

static void exact_conv(const struct problem *p, double *y) {
    for (int32_t t = 0; t < p->T; t++)
        for (int64_t c = 0; c < p->n; c++) {
            double sum = 0;
            for (int32_t i = 0; i < p->k; i++)
                sum += (double)p->w[c * p->k + i] * (double)p->a[(t + i) * (p->n + 2) + c];
            y[t * p->n + c] = sum * sig(sum);
        }
}

struct row_operation {
    const char *name;
    test_operation run;
    void (*exact)(const struct problem *p, double *y);
    float p;
    double relative, absolute;
    uint64_t hash;
};

static const struct row_operation row_operations[] = {
    {"rms", run_rms, exact_rms, 1e-5f, 1e-6, 1e-9, 0x0a903f24da1d03f8},
    {"l2norm", run_l2, exact_l2, 0.088388347f, 1e-6, 1e-9, 0x0776726207fe6757},
    {"head rms and gate", run_rms_gate, exact_rms_gate, 1e-5f, 2e-6, 1e-9, 0x89fb144ed5b6f28c},
    {"decay, bounded", run_decay, exact_decay, -5, 4e-6, 1e-9, 0xc46f1c040c2e6174},
    {"decay, unbounded", run_decay, exact_decay, 0, 1e-5, 1e-9, 0x7004255a340c5c8e},
    {"mix", run_mix, exact_mix, 1e-5f, 1e-5, 1e-5, 0x764ce89aee5121fc},
    {"expert sum", run_expert_sum, exact_expert_sum, 0, 1e-6, 1e-5, 0xf130f4a63733c019},
    {"short convolution", run_conv, exact_conv, 0, 1e-6, 1e-5, 0xf65bf2333f08aa8e},
};

struct row_shape {
    int64_t n, heads;
    int32_t T, k;
};

static const struct row_shape row_shapes[] = {
    {1, 1, 1, 1},  {5, 3, 4, 2},     {63, 2, 9, 4},    {64, 1, 3, 9},
    {65, 3, 5, 3}, {100, 2, 64, 16}, {300, 8, 33, 10}, {577, 1, 2, 5},
};

static void check_rows(void) {
    for (unsigned o = 0; o < sizeof row_operations / sizeof *row_operations; o++) {
        const struct row_operation *operation = &row_operations[o];
        uint64_t hash = 0;
        for (unsigned s = 0; s < sizeof row_shapes / sizeof *row_shapes; s++) {
            const struct row_shape *shape = &row_shapes[s];
            struct problem p = new_problem(shape->n, shape->heads, shape->T, shape->k, 4, 100 * o + s);
            p.p = operation->p;
            int64_t n = p.n * p.T *
                        (operation->run == run_rms || operation->run == run_mix || operation->run == run_expert_sum ||
                                 operation->run == run_conv
                             ? 1
                             : p.heads);
            float *out = test_memory((size_t)n * sizeof *out);
            double *exact = test_memory((size_t)n * sizeof *exact);
            hash ^= every_run(operation->name, operation->run, &p, p.T, out, n);
            operation->exact(&p, exact);
            check_close(operation->name, out, exact, n, operation->relative, operation->absolute);
            free(exact);
            free(out);
            free_problem(&p);
        }
        test_golden(operation->name, hash, operation->hash);
    }
}

/* The order of the sums, word for word. */
static void check_order(void) {
    for (int64_t n = 1; n < 300; n += 13) {
        struct problem p = new_problem(n, 1, 1, 1, 3, (uint64_t)n);
        p.p = 1;
        float *out = test_memory((size_t)n * sizeof *out);
        run_l2(every[0].queue, &p, 1, out);
        float r = sqrtf(book_dot(p.a, p.a, n) + 1e-6f);
        for (int64_t c = 0; c < n; c++)
            CHECK(out[c] == p.a[c] / r, "l2norm of %lld columns does not sum in the written order", (long long)n);
        p.p = 1e-5f;
        run_rms(every[0].queue, &p, 1, out);
        r = sqrtf(book_dot(p.a, p.a, n) / (float)n + 1e-5f);
        for (int64_t c = 0; c < n; c++)
            CHECK(out[c] == p.w[c] * (p.a[c] / r), "rms of %lld columns does not sum in the written order",
                  (long long)n);
        free(out);
        free_problem(&p);
    }
}

/* ---- argmax, embed, copy -------------------------------------------------------------------------------------------
 */

static int32_t first_largest(const float *x, int64_t n) {
    int32_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (x[i] == x[i] && (best < 0 || x[i] > x[best])) best = (int32_t)i;
    return best < 0 ? 0 : best;
}

static void check_argmax(void) {
    static const int64_t sizes[] = {1, 2, 63, 64, 65, 129, 1000};
    for (int s = 0; s < 7; s++)
        for (int pattern = 0; pattern < 6; pattern++) {
            int64_t n = sizes[s];
            float *x = test_memory((size_t)(3 * n) * sizeof *x);
            uint64_t seed = (uint64_t)(n * 7 + pattern);
            for (int64_t i = 0; i < 3 * n; i++) {
                float value = test_float(&seed);
                x[i] = pattern == 0   ? value
                       : pattern == 1 ? (float)(int)(value * 3) /* many ties, zeros of both signs */
                       : pattern == 2 ? (test_next(&seed) % 3 ? NAN : value)
                       : pattern == 3 ? NAN
                       : pattern == 4 ? -INFINITY
                                      : (i % 5 == 4 ? INFINITY : value);
            }
            for (int i = 0; i < every_count; i++) {
                int32_t got[3];
                test_ok(every[i].queue, df_argmax(every[i].queue, test_address(got), row(x, 0), n, n, 3));
                for (int t = 0; t < 3; t++)
                    CHECK(got[t] == first_largest(x + t * n, n), "argmax of %lld, pattern %d: %d", (long long)n,
                          pattern, got[t]);
            }
            free(x);
        }
}

static void check_embed(void) {
    enum { VOCAB = 11, H = 77, T = 5 };
    static const int32_t ids[T] = {3, 10, 0, 3, 7};
    uint16_t narrow[VOCAB * H];
    float wide[VOCAB * H], out[T * H];
    uint64_t seed = 5;
    for (int i = 0; i < VOCAB * H; i++) {
        uint32_t bits;
        wide[i] = test_any_finite(&seed);
        memcpy(&bits, &wide[i], sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    for (int i = 0; i < every_count; i++) {
        df_queue *q = every[i].queue;
        test_ok(q, df_embed(q, row(out, 0), row(wide, 0), DF_F32, ids, VOCAB, H, T));
        for (int t = 0; t < T; t++)
            CHECK(!memcmp(out + t * H, wide + ids[t] * H, H * sizeof *out), "embed F32 row %d", t);
        test_ok(q, df_embed(q, row(out, 0), test_address(narrow), DF_BF16, ids, VOCAB, H, T));
        for (int t = 0; t < T; t++)
            for (int c = 0; c < H; c++) {
                uint32_t bits;
                memcpy(&bits, &out[t * H + c], sizeof bits);
                CHECK(bits == (uint32_t)narrow[ids[t] * H + c] << 16, "embed BF16 row %d column %d", t, c);
            }
        int32_t outside[1] = {VOCAB};
        CHECK(df_embed(q, row(out, 0), row(wide, 0), DF_F32, outside, VOCAB, H, 1) == DF_E_ARGUMENT, "id out of range");
        CHECK(strstr(df_queue_error(q), "11"), "the message names the id: %s", df_queue_error(q));
        df_queue_wait(q);
    }
}

static void check_copy(void) {
    uint8_t from[4000], to[4000], expected[4000];
    for (int i = 0; i < every_count; i++) {
        df_queue *q = every[i].queue;
        test_bytes(from, sizeof from, 9);
        memset(to, 0, sizeof to);
        test_ok(q, df_copy_rows(q, test_address(to), 50, test_address(from), 41, 39, 60));
        for (int t = 0; t < 60; t++)
            CHECK(!memcmp(to + t * 50, from + t * 41, 39) && to[t * 50 + 39] == 0, "copied row %d", t);
        for (int shift = -130; shift <= 130; shift += 26) { /* overlapping, both ways */
            test_bytes(from, sizeof from, 10);
            memcpy(expected, from, sizeof from);
            memmove(expected + 500 + shift, from + 500, 60 * 40);
            test_ok(q, df_copy_rows(q, test_address(from + 500 + shift), 40, test_address(from + 500), 40, 40, 60));
            CHECK(!memcmp(from, expected, sizeof from), "moved by %d", shift);
        }
    }
    size_t large = 3 << 20;
    uint8_t *a = test_memory(large), *b = test_memory(large);
    test_bytes(a, (int64_t)large, 1);
    for (int i = 0; i < every_count; i++) {
        memset(b, 0, large);
        test_ok(every[i].queue,
                df_copy_rows(every[i].queue, test_address(b), 0, test_address(a), 0, (int64_t)large, 1));
        CHECK(!memcmp(a, b, large), "one large row");
    }
    free(a);
    free(b);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------
 */

static void check_refusals(void) {
    df_queue *q = every[0].queue;
    float x[8] = {0};
    df_addr a = row(x, 0);
#define REFUSED(call) CHECK((call) == DF_E_ARGUMENT && *df_queue_error(q), "not refused: " #call)
    REFUSED(df_add(q, a, 0, 4));
    REFUSED(df_exp(q, a, a, -1));
    REFUSED(df_activate(q, a, a, a, 4, 9, 1, 1));
    REFUSED(df_activate(q, a, a, a, 4, DF_ACT_SITU, 0, 1));
    REFUSED(df_activate(q, a, a, a, 4, DF_ACT_SITU, 1, NAN));
    REFUSED(df_rms(q, a, 4, a, 3, a, 4, 2, 1e-5f));
    REFUSED(df_rms(q, a, 4, a, 4, a, 0, 2, 1e-5f));
    REFUSED(df_mix(q, a, 4, a, 4, 4, 0, a, 4, 1, 1e-5f));
    REFUSED(df_argmax(q, a, a, 4, 0, 1));
    REFUSED(df_l2norm(q, a, a, 1, 0, 1, 1));
    REFUSED(df_decay(q, a, a, a, a, 1, 4, 1, NAN));
    REFUSED(df_head_rms_gate(q, a, a, 0, a, 1, 4, 1, 1e-5f));
    REFUSED(df_short_conv(q, a, 4, a, 4, a, 4, 0, 1));
    REFUSED(df_short_conv(q, a, 4, a, 4, a, 4, 1000, 1));
    REFUSED(df_expert_sum(q, a, a, a, 4, 0, 1));
    REFUSED(df_copy_rows(q, a, 2, a, 4, 4, 2));
    REFUSED(df_embed(q, a, a, DF_MXFP4, NULL, 1, 1, 1));
    CHECK(df_add(NULL, a, a, 4) == DF_E_ARGUMENT, "no queue");
    test_ok(q, df_add(q, 0, 0, 0));
    CHECK(df_queue_wait(q) == DF_E_ARGUMENT && df_queue_wait(q) == DF_OK, "a failure is reported once");
}

int main(int argc, char **argv) {
    every_open();
    check_maps(test_quick(argc, argv));
    check_rows();
    check_order();
    check_argmax();
    check_embed();
    check_copy();
    check_refusals();
    every_close();
    return test_end();
}
