/* df_kda: against double precision, against the written order bit for bit, on every instruction set and thread count;
 * row by row, in any chunks, and by replay: keep and out_from at every n equal the straight run. */
#include "every_device.h"

#include <math.h>

struct problem {
    int64_t heads, D;
    int32_t T;
    float *state, *q, *k, *v, *alpha, *beta;
};

static int64_t state_size(const struct problem *p) {
    return p->heads * p->D * p->D;
}

static int64_t row_size(const struct problem *p) {
    return p->heads * p->D;
}

static struct problem new_problem(int64_t heads, int64_t D, int32_t T, uint64_t seed) {
    struct problem p = {.heads = heads, .D = D, .T = T};
    int64_t rows = T * heads * D;
    p.state = test_memory((size_t)state_size(&p) * sizeof(float));
    p.q = test_memory((size_t)rows * sizeof(float));
    p.k = test_memory((size_t)rows * sizeof(float));
    p.v = test_memory((size_t)rows * sizeof(float));
    p.alpha = test_memory((size_t)rows * sizeof(float));
    p.beta = test_memory((size_t)(T * heads) * sizeof(float));
    test_floats(p.state, state_size(&p), seed);
    test_floats(p.v, rows, seed + 1);
    float unit = 1.7f / sqrtf((float)D); /* as normalised vectors have */
    for (int64_t i = 0; i < rows; i++) {
        p.q[i] = test_float(&seed) * unit;
        p.k[i] = test_float(&seed) * unit;
        p.alpha[i] = fabsf(test_float(&seed));
    }
    for (int64_t i = 0; i < T * heads; i++)
        p.beta[i] = fabsf(test_float(&seed));
    return p;
}

static void free_problem(struct problem *p) {
    free(p->state);
    free(p->q);
    free(p->k);
    free(p->v);
    free(p->alpha);
    free(p->beta);
}

/* Rows [from, to) of the problem on this state; out: row 0 of the problem. */
static void call(df_queue *q, const struct problem *p, int32_t from, int32_t to, int32_t keep, int32_t out_from,
                 float *state, float *out) {
    int64_t at = from * row_size(p);
    df_kda_op op = {.state = test_address(state),
                    .q = test_address(p->q + at),
                    .k = test_address(p->k + at),
                    .v = test_address(p->v + at),
                    .alpha = test_address(p->alpha + at),
                    .beta = test_address(p->beta + from * p->heads),
                    .out = test_address(out + at),
                    .heads = p->heads,
                    .D = p->D,
                    .T = to - from,
                    .keep = keep,
                    .out_from = out_from};
    if (out_from == to - from) op.q = op.out = 0; /* then they may be missing */
    test_ok(q, df_kda(q, &op));
}

/* Results: the outputs, then the state. */
static void run(df_queue *q, void *problem, int32_t step, float *results) {
    const struct problem *p = problem;
    float *state = results + p->T * row_size(p);
    memcpy(state, p->state, (size_t)state_size(p) * sizeof *state);
    for (int32_t t = 0; t < p->T; t += step) {
        int32_t end = t + step < p->T ? t + step : p->T;
        call(q, p, t, end, end - t, 0, state, results);
    }
}

static void by_the_book(const struct problem *p, float *results) {
    float *out = results, *states = results + p->T * row_size(p);
    int64_t D = p->D;
    memcpy(states, p->state, (size_t)state_size(p) * sizeof *states);
    for (int32_t t = 0; t < p->T; t++)
        for (int64_t n = 0; n < p->heads; n++) {
            int64_t at = t * row_size(p) + n * D;
            for (int64_t j = 0; j < D; j++) {
                float *S = states + n * D * D + j, m = 0, o = 0;
                for (int64_t i = 0; i < D; i++) {
                    S[i * D] = p->alpha[at + i] * S[i * D];
                    m = __builtin_fmaf(p->k[at + i], S[i * D], m);
                }
                float d = p->beta[t * p->heads + n] * (p->v[at + j] - m);
                for (int64_t i = 0; i < D; i++) {
                    S[i * D] = __builtin_fmaf(p->k[at + i], d, S[i * D]);
                    o = __builtin_fmaf(p->q[at + i], S[i * D], o);
                }
                out[at + j] = o;
            }
        }
}

static void exactly(const struct problem *p, double *results) {
    double *out = results, *states = results + p->T * row_size(p);
    int64_t D = p->D;
    for (int64_t i = 0; i < state_size(p); i++)
        states[i] = (double)p->state[i];
    for (int32_t t = 0; t < p->T; t++)
        for (int64_t n = 0; n < p->heads; n++) {
            int64_t at = t * row_size(p) + n * D;
            for (int64_t j = 0; j < D; j++) {
                double *S = states + n * D * D + j, m = 0, o = 0;
                for (int64_t i = 0; i < D; i++)
                    m += (double)p->k[at + i] * (S[i * D] *= (double)p->alpha[at + i]);
                double d = (double)p->beta[t * p->heads + n] * ((double)p->v[at + j] - m);
                for (int64_t i = 0; i < D; i++)
                    o += (double)p->q[at + i] * (S[i * D] += (double)p->k[at + i] * d);
                out[at + j] = o;
            }
        }
}

/* Every keep with every out_from: the outputs wanted and the state kept are those of the straight run, the rest is
 * untouched; going on from the kept state gives the straight run's end. */
static void check_replay(df_queue *q, const char *who, const struct problem *p, const float *straight) {
    int64_t rows = p->T * row_size(p), size = state_size(p);
    float *state = test_memory((size_t)size * sizeof *state), *expected = test_memory((size_t)size * sizeof *expected);
    float *out = test_memory((size_t)rows * sizeof *out);
    for (int32_t keep = 0; keep <= p->T; keep++) {
        memcpy(expected, p->state, (size_t)size * sizeof *state);
        for (int32_t t = 0; t < keep; t++)
            call(q, p, t, t + 1, 1, 0, expected, out);
        for (int32_t out_from = 0; out_from <= p->T; out_from++) {
            memcpy(state, p->state, (size_t)size * sizeof *state);
            for (int64_t i = 0; i < rows; i++)
                out[i] = -77;
            call(q, p, 0, p->T, keep, out_from, state, out);
            CHECK(test_difference(expected, state, size) < 0, "%s: state after keep %d, output from %d", who, keep,
                  out_from);
            for (int64_t i = 0; i < rows; i++) {
                float want = i < out_from * row_size(p) ? -77 : straight[i];
                CHECK(!memcmp(&out[i], &want, sizeof want), "%s: output %lld with keep %d, output from %d", who,
                      (long long)i, keep, out_from);
            }
        }
        if (keep == p->T) continue;
        call(q, p, keep, p->T, p->T - keep, 0, state, out);
        CHECK(test_difference(straight + rows, state, size) < 0, "%s: state after the rest from %d on", who, keep);
    }
    free(out);
    free(expected);
    free(state);
}

static void check_refusals(df_queue *q) {
    float x[4] = {0};
    df_addr a = test_address(x);
    df_kda_op good = {.state = a, .q = a, .k = a, .v = a, .alpha = a, .beta = a, .out = a, .heads = 1, .D = 1, .T = 1};
    df_kda_op bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].keep = 2;
    bad[1].keep = -1;
    bad[2].out_from = 2;
    bad[3].T = 0;
    bad[4].D = 0;
    bad[5].state = 0;
    bad[6].out = 0;
    bad[7].heads = -1;
    for (int i = 0; i < 8; i++)
        CHECK(df_kda(q, &bad[i]) == DF_E_ARGUMENT && *df_queue_error(q), "bad argument %d is not refused", i);
    CHECK(df_kda(q, NULL) == DF_E_ARGUMENT, "no op");
    df_queue_wait(q);
}

struct shape {
    int64_t heads, D;
    int32_t T;
    uint64_t hash;
};

static const struct shape shapes[] = {
    {1, 1, 3, 0xe0589e1ddcb6f2da},   {3, 2, 5, 0x6be2fb70af20139b},   {2, 7, 4, 0xbe273c46c6c94174},
    {4, 32, 8, 0x0537f07cf860bef2},  {4, 64, 9, 0x33569e0bac078219},  {3, 100, 6, 0x516e6e793e51e0c6},
    {5, 128, 5, 0xed4eff8c6e6673c3}, {1, 256, 3, 0xe0ab1e18f0bb46ae}, {2, 67, 64, 0x1cd23d8eb2243127},
};

int main(void) {
    every_open();
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const struct shape *shape = &shapes[s];
        char name[64];
        snprintf(name, sizeof name, "kda %lldx%lld T %d", (long long)shape->heads, (long long)shape->D, shape->T);
        struct problem p = new_problem(shape->heads, shape->D, shape->T, 31 * s);
        int64_t n = p.T * row_size(&p) + state_size(&p);
        float *results = test_memory((size_t)n * sizeof *results), *book = test_memory((size_t)n * sizeof *book);
        double *exact = test_memory((size_t)n * sizeof *exact);
        test_golden(name, every_run(name, run, &p, p.T, results, n), shape->hash);
        by_the_book(&p, book);
        CHECK(test_difference(book, results, n) < 0, "%s does not keep the written order", name);
        exactly(&p, exact);
        check_close(name, results, exact, n, 1e-5, 4e-6);
        for (int i = 0; i < every_count && p.T < 20; i++)
            if (every[i].threads == 1 || every[i].threads == 3)
                check_replay(every[i].queue, test_isa_names[every[i].isa], &p, results);
        free(exact);
        free(book);
        free(results);
        free_problem(&p);
    }
    check_refusals(every[0].queue);
    every_close();
    return test_end();
}
