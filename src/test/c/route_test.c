/* df_route against a plain sort in double precision: ties, groups, both routers, refusals; the same bits everywhere. */
#include "every_device.h"

#include <math.h>

struct problem {
    df_route_shape shape;
    int32_t T;
    float *logits, *bias;
};

static struct problem new_problem(df_route_shape shape, int32_t T, int biased, uint64_t seed) {
    struct problem p = {.shape = shape, .T = T};
    p.logits = test_memory((size_t)(T * shape.experts) * sizeof(float));
    p.bias = biased ? test_memory((size_t)shape.experts * sizeof(float)) : NULL;
    for (int64_t i = 0; i < (int64_t)T * shape.experts; i++)
        p.logits[i] = (float)(int)(test_float(&seed) * 40) / 8; /* coarse, so that ties abound */
    for (int32_t e = 0; biased && e < shape.experts; e++)
        p.bias[e] = (float)(int)(test_float(&seed) * 4) / 8;
    return p;
}

static void free_problem(struct problem *p) {
    free(p->logits);
    free(p->bias);
}

/* Results: weights [T][k], then ids as floats. */
static void run(df_queue *q, void *problem, int32_t step, float *results) {
    const struct problem *p = problem;
    int32_t k = p->shape.k, *ids = test_memory((size_t)(p->T * k) * sizeof *ids);
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_route(q, &p->shape, test_address(ids + t * k), test_address(results + t * k),
                            test_address(p->logits + (int64_t)t * p->shape.experts),
                            p->bias ? test_address(p->bias) : 0, t + step < p->T ? step : p->T - t));
    for (int32_t i = 0; i < p->T * k; i++)
        results[p->T * k + i] = (float)ids[i];
    free(ids);
}

static double score(const df_route_shape *s, const float *logits, int32_t e) {
    if (s->router == DF_ROUTER_SIGMOID) return 1 / (1 + exp(-(double)logits[e]));
    double sum = 0;
    for (int32_t i = 0; i < s->experts; i++)
        sum += exp((double)logits[i] - (double)logits[e]);
    return 1 / sum;
}

/* Which of c's groups are kept: each takes its turn, the best first, the lower first among equals. */
static void drop_groups(const df_route_shape *s, double *c) {
    int32_t size = s->experts / s->groups;
    double *sums = test_memory((size_t)s->groups * sizeof *sums);
    for (int32_t g = 0; g < s->groups; g++) {
        double first = -INFINITY, second = -INFINITY;
        for (int32_t e = g * size; e < (g + 1) * size; e++)
            if (c[e] > first) {
                second = first;
                first = c[e];
            } else if (c[e] > second) {
                second = c[e];
            }
        sums[g] = first + second;
    }
    int *kept = test_memory((size_t)s->groups * sizeof *kept);
    for (int32_t i = 0; i < s->topk_group; i++) {
        int32_t best = -1;
        for (int32_t g = 0; g < s->groups; g++)
            if (!kept[g] && (best < 0 || sums[g] > sums[best])) best = g;
        kept[best] = 1;
    }
    for (int32_t e = 0; e < s->experts; e++)
        if (!kept[e / size]) c[e] = -INFINITY;
    free(kept);
    free(sums);
}

static void check_row(const char *name, const struct problem *p, int32_t t, const float *results) {
    const df_route_shape *s = &p->shape;
    const float *logits = p->logits + (int64_t)t * s->experts, *weights = results + t * s->k;
    const float *ids = results + p->T * s->k + t * s->k;
    double *scores = test_memory((size_t)s->experts * sizeof *scores), *c = test_memory((size_t)s->experts * sizeof *c);
    for (int32_t e = 0; e < s->experts; e++) {
        scores[e] = score(s, logits, e);
        c[e] = (double)(float)((float)scores[e] + (p->bias ? p->bias[e] : 0)); /* equal logits stay equal */
    }
    if (s->groups > 1 && s->groups > s->topk_group) drop_groups(s, c);
    double sum = 1e-20;
    for (int32_t i = 0; i < s->k; i++)
        sum += scores[(int32_t)ids[i]];
    for (int32_t i = 0; i < s->k; i++) {
        int32_t best = -1, got = (int32_t)ids[i];
        for (int32_t e = 0; e < s->experts; e++)
            if (c[e] == c[e] && (best < 0 || c[e] > c[best])) best = e;
        CHECK(got == best || fabs(c[got] - c[best]) < 2e-7, "%s: row %d place %d: expert %d, not %d", name, t, i, got,
              best);
        double weight = scores[got] * (double)s->scale / (s->renormalize && s->k > 1 ? sum : 1);
        CHECK(fabs((double)weights[i] - weight) < 1e-6 * fabs(weight) + 1e-12, "%s: row %d place %d weighs %g, not %g",
              name, t, i, (double)weights[i], weight);
        c[got] = NAN;
    }
    free(c);
    free(scores);
}

/* Equal biased scores: the lower id first, whatever the order of arrival. */
static void check_ties(void) {
    enum { E = 37, K = 9 };
    float logits[E], weights[K], bias[E] = {0};
    int32_t ids[K];
    for (int e = 0; e < E; e++)
        logits[e] = e % 4 == 3 ? 2.0f : e % 4 == 1 ? -1.0f : 0.5f;
    df_route_shape s = {.experts = E, .k = K, .router = DF_ROUTER_SIGMOID, .groups = 1, .topk_group = 1, .scale = 1};
    static const int32_t expected[K] = {3, 7, 11, 15, 19, 23, 27, 31, 35};
    for (int i = 0; i < every_count; i++) {
        test_ok(every[i].queue, df_route(every[i].queue, &s, test_address(ids), test_address(weights),
                                         test_address(logits), test_address(bias), 1));
        CHECK(!memcmp(ids, expected, sizeof ids), "ties go to the lower id");
    }
}

static void check_refusals(df_queue *q) {
    float logits[8] = {0, 1, 2, 3, 4, 5, 6, 7}, weights[8];
    int32_t ids[8];
    df_addr a = test_address(ids), w = test_address(weights), l = test_address(logits);
    df_route_shape good = {8, 2, DF_ROUTER_SIGMOID, 4, 2, 1, 1, 0}, bad[6];
    test_ok(q, df_route(q, &good, a, w, l, 0, 1));
    for (int i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].k = 9;
    bad[1].k = 0;
    bad[2].router = 3;
    bad[3].groups = 3;
    bad[4].k = 5;
    bad[5].topk_group = 0;
    for (int i = 0; i < 6; i++)
        CHECK(df_route(q, &bad[i], a, w, l, 0, 1) == DF_E_ARGUMENT, "bad shape %d is not refused", i);
    static const float broken[] = {NAN, INFINITY, -INFINITY};
    for (int router = DF_ROUTER_SIGMOID; router <= DF_ROUTER_SOFTMAX; router++)
        for (int i = 0; i < 3; i++) {
            logits[5] = broken[i];
            good.router = router;
            CHECK(df_route(q, &good, a, w, l, 0, 1) == DF_E_ARGUMENT, "a logit of %g is not refused",
                  (double)broken[i]);
            CHECK(strstr(df_queue_error(q), "router logits are not finite"), "message: %s", df_queue_error(q));
        }
    df_queue_wait(q);
}

static const struct {
    const char *name;
    df_route_shape shape;
    int32_t T;
    int biased;
    uint64_t hash;
} cases[] = {
    {"one expert", {1, 1, DF_ROUTER_SIGMOID, 1, 1, 1, 2, 0}, 3, 0, 0xc88f87468738acfa},
    {"sigmoid 64/16", {64, 16, DF_ROUTER_SIGMOID, 1, 1, 1, 1, 0}, 9, 1, 0x1a9ce1057973d162},
    {"sigmoid 896/16", {896, 16, DF_ROUTER_SIGMOID, 1, 1, 1, 2.5f, 0}, 20, 1, 0xc4a332c8e3f0fd6e},
    {"not renormalised", {51, 7, DF_ROUTER_SIGMOID, 1, 1, 0, 1, 0}, 5, 0, 0x3bef4bf74b9554a4},
    {"softmax 101/8", {101, 8, DF_ROUTER_SOFTMAX, 1, 1, 1, 1, 0}, 6, 0, 0xe377039f850cd3aa},
    {"groups 4 of 8", {96, 6, DF_ROUTER_SIGMOID, 8, 4, 1, 1, 0}, 17, 1, 0xe205aea44faa6fd2},
    {"softmax in groups", {30, 5, DF_ROUTER_SOFTMAX, 5, 2, 0, 1, 0}, 4, 0, 0x4e739a4b0ea73bdb},
    {"all experts", {13, 13, DF_ROUTER_SIGMOID, 1, 1, 1, 1, 0}, 5, 1, 0xe41e758a30138f3a},
};

int main(void) {
    every_open();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem p = new_problem(cases[i].shape, cases[i].T, cases[i].biased, 70 + i);
        int64_t n = 2 * (int64_t)p.T * p.shape.k;
        float *results = test_memory((size_t)n * sizeof *results);
        test_golden(cases[i].name, every_run(cases[i].name, run, &p, p.T, results, n), cases[i].hash);
        for (int32_t t = 0; t < p.T; t++)
            check_row(cases[i].name, &p, t, results);
        free(results);
        free_problem(&p);
    }
    check_ties();
    check_refusals(every[0].queue);
    every_close();
    return test_end();
}
