/* The router: scores, selection, weights. k3-model.md 3.9 */
#include "kernels.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define ROUTE_GRAIN 4 /* rows: a row of some hundred experts takes a few microseconds */

struct route {
    const df_route_shape *shape;
    const struct df_vector *vector;
    const struct df_norm *norm;
    int32_t *ids;
    float *weights;
    const float *logits, *bias;
    float *scratch;  /* a thread's scores [experts], biased scores [experts], best groups' scores [groups] */
    int32_t *groups; /* a thread's best groups [groups] */
    atomic_int_fast64_t bad_row;
};

/* The k best of n values, descending, equal values in ascending order of index; best [k] receives their values. */
static void select_best(int32_t *ids, float *best, int32_t k, const float *x, int32_t n) {
    int32_t held = 0;
    for (int32_t i = 0; i < n; i++) {
        if (held == k && !(x[i] > best[k - 1])) continue;
        int32_t at = held < k ? held++ : k - 1;
        for (; at > 0 && x[i] > best[at - 1]; at--) {
            best[at] = best[at - 1];
            ids[at] = ids[at - 1];
        }
        best[at] = x[i];
        ids[at] = i;
    }
}

/* Leaves only the experts of the topk_group groups whose two best add up to most; the others become -infinity. */
static void limit_groups(const df_route_shape *s, float *biased, float *sums, int32_t *groups, float *best) {
    int32_t size = s->experts / s->groups;
    for (int32_t g = 0; g < s->groups; g++) {
        int32_t two[2];
        float top[2];
        select_best(two, top, 2, biased + g * size, size);
        sums[g] = top[0] + top[1];
    }
    select_best(groups, best, s->topk_group, sums, s->groups);
    for (int32_t g = 0; g < s->groups; g++) {
        int kept = 0;
        for (int32_t i = 0; i < s->topk_group; i++)
            kept |= groups[i] == g;
        for (int32_t e = g * size; !kept && e < (g + 1) * size; e++)
            biased[e] = -INFINITY;
    }
}

static int limits_groups(const df_route_shape *s) {
    return s->groups > 1 && s->groups > s->topk_group;
}

static int all_finite(const float *x, int32_t n) {
    int all = 1;
    for (int32_t i = 0; i < n; i++)
        all &= isfinite(x[i]) != 0;
    return all;
}

static void route_row(struct route *r, int64_t t, float *scores, float *biased, float *group_scores, int32_t *groups) {
    const df_route_shape *s = r->shape;
    const float *logits = r->logits + t * s->experts;
    int32_t *ids = r->ids + t * s->k;
    float *weights = r->weights + t * s->k;
    if (s->router == DF_ROUTER_SIGMOID)
        r->vector->sigmoid(scores, logits, s->experts);
    else
        r->norm->softmax(scores, logits, s->experts);
    for (int32_t e = 0; e < s->experts; e++)
        biased[e] = r->bias ? scores[e] + r->bias[e] : scores[e];
    if (!all_finite(logits, s->experts) || !all_finite(biased, s->experts)) {
        memset(ids, 0, (size_t)s->k * sizeof *ids);
        memset(weights, 0, (size_t)s->k * sizeof *weights);
        atomic_store(&r->bad_row, t);
        return;
    }
    if (limits_groups(s)) limit_groups(s, biased, group_scores, groups, group_scores + s->groups);
    select_best(ids, weights, s->k, biased, s->experts);
    float sum = 0;
    for (int32_t i = 0; i < s->k; i++) {
        weights[i] = scores[ids[i]];
        sum += weights[i];
    }
    for (int32_t i = 0; i < s->k; i++) {
        if (s->renormalize && s->k > 1) weights[i] /= sum + 1e-20f;
        weights[i] *= s->scale;
    }
}

static int64_t scratch_floats(const df_route_shape *s) {
    return 2 * ((int64_t)s->experts + s->groups);
}

static void route_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    struct route *r = ctx;
    const df_route_shape *s = r->shape;
    float *scores = r->scratch + thread * scratch_floats(s);
    for (int64_t t = begin; t < end; t++)
        route_row(r, t, scores, scores + s->experts, scores + 2 * s->experts, r->groups + (int64_t)thread * s->groups);
}

int32_t df_route(df_queue *q, const df_route_shape *s, df_addr ids, df_addr weights, df_addr logits, df_addr bias,
                 int32_t T) {
    DF_REQUIRE(q, q, "df_route: queue is null");
    DF_REQUIRE(q, s && ids && weights && logits, "df_route: null address");
    DF_REQUIRE(q, s->router == DF_ROUTER_SIGMOID || s->router == DF_ROUTER_SOFTMAX, "df_route: %d is no router",
               s->router);
    DF_REQUIRE(q, s->experts > 0 && s->k > 0 && s->k <= s->experts && T > 0, "df_route: %d of %d experts, T %d", s->k,
               s->experts, T);
    DF_REQUIRE(q, s->groups >= 0 && s->groups <= s->experts, "df_route: %d groups of %d experts", s->groups,
               s->experts);
    if (limits_groups(s)) {
        int32_t size = s->experts / s->groups;
        DF_REQUIRE(q, s->experts % s->groups == 0 && size >= 2,
                   "df_route: %d experts do not make %d equal groups of two or more", s->experts, s->groups);
        DF_REQUIRE(q, s->topk_group > 0 && s->k <= s->topk_group * size,
                   "df_route: %d groups of %d experts hold fewer than %d", s->topk_group, size, s->k);
    }
    int64_t threads = q->device->threads;
    size_t floats = (size_t)(threads * scratch_floats(s));
    float *scratch = df_scratch(q, DF_SCRATCH_VECTOR, (floats + (size_t)(threads * s->groups)) * sizeof *scratch);
    if (!scratch) return DF_E_MEMORY;
    struct route route = {.shape = s,
                          .vector = DF_PICK(q->device, df_vector),
                          .norm = DF_PICK(q->device, df_norm),
                          .ids = (int32_t *)(void *)df_bytes(ids),
                          .weights = df_f32(weights),
                          .logits = df_f32(logits),
                          .bias = df_f32(bias),
                          .scratch = scratch,
                          .groups = (int32_t *)(void *)(scratch + floats)};
    atomic_init(&route.bad_row, -1);
    df_parallel(q, T, ROUTE_GRAIN, route_task, &route);
    int64_t bad = atomic_load(&route.bad_row);
    DF_REQUIRE(q, bad < 0, "df_route: router logits are not finite (row %lld)", (long long)bad);
    return DF_OK;
}
