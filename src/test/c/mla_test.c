/* df_mla_absorb and df_mla_attend: against double precision, against the written order bit for bit, on every
 * instruction set and thread count, in any chunks of rows, over one or many pages, up to 5000 positions. */
#include "every_device.h"

#include <math.h>

struct problem {
    df_mla_shape shape;
    int64_t base, page_positions, pages;
    int32_t T;
    uint8_t *kv_b;
    float *q; /* absorb: [T][heads][dn+dr]; attend: [T][heads][Rc+dr] */
    df_addr *page;
    float scale;
};

static int64_t row_width(const struct problem *p) {
    return p->shape.Rc + p->shape.dr;
}

/* ---- absorb --------------------------------------------------------------------------------------------------------
 */

static float weight(const struct problem *p, int64_t at) {
    float w;
    if (p->shape.format == DF_F32) {
        memcpy(&w, p->kv_b + 4 * at, 4);
    } else {
        uint16_t top;
        memcpy(&top, p->kv_b + 2 * at, 2);
        uint32_t bits = (uint32_t)top << 16;
        memcpy(&w, &bits, 4);
    }
    return w;
}

static struct problem new_absorb(df_mla_shape shape, int32_t T, uint64_t seed) {
    struct problem p = {.shape = shape, .T = T};
    int64_t weights = shape.heads * (shape.dn + shape.dv) * shape.Rc;
    p.kv_b = (uint8_t *)test_memory((size_t)weights * 4 + 2) + 2; /* no alignment is promised */
    for (int64_t i = 0; i < weights; i++) {
        float w = test_float(&seed);
        uint32_t bits;
        memcpy(&bits, &w, 4);
        uint16_t top = (uint16_t)(bits >> 16);
        memcpy(p.kv_b + (shape.format == DF_F32 ? 4 : 2) * i, shape.format == DF_F32 ? (void *)&w : (void *)&top,
               shape.format == DF_F32 ? 4 : 2);
    }
    p.shape.kv_b = test_address(p.kv_b);
    int64_t values = T * shape.heads * (shape.dn + shape.dr);
    p.q = test_memory((size_t)values * sizeof(float));
    test_floats(p.q, values, seed);
    return p;
}

static void run_absorb(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    int64_t dq = p->shape.dn + p->shape.dr;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_mla_absorb(q, &p->shape, test_address(out + t * p->shape.heads * row_width(p)),
                                 test_address(p->q + t * p->shape.heads * dq), t + step < p->T ? step : p->T - t));
}

static void check_absorbed(const char *name, const struct problem *p, const float *out) {
    const df_mla_shape *s = &p->shape;
    for (int64_t u = 0; u < (int64_t)p->T * s->heads; u++) {
        const float *q = p->q + u * (s->dn + s->dr), *got = out + u * row_width(p);
        for (int64_t c = 0; c < s->Rc; c++) {
            float sum = 0;
            for (int64_t d = 0; d < s->dn; d++)
                sum = __builtin_fmaf(weight(p, (u % s->heads * (s->dn + s->dv) + d) * s->Rc + c), q[d], sum);
            CHECK(got[c] == sum, "%s: query %lld column %lld is %a, not %a", name, (long long)u, (long long)c,
                  (double)got[c], (double)sum);
        }
        CHECK(!memcmp(got + s->Rc, q + s->dn, (size_t)s->dr * sizeof *q), "%s: the extra columns of query %lld", name,
              (long long)u);
    }
}

/* ---- attend --------------------------------------------------------------------------------------------------------
 */

static struct problem new_attend(int32_t heads, int64_t Rc, int64_t dr, int64_t base, int32_t T, int64_t page_positions,
                                 uint64_t seed) {
    struct problem p = {.shape = {.format = DF_BF16, .heads = heads, .dn = 1, .dr = dr, .dv = 1, .Rc = Rc},
                        .base = base,
                        .page_positions = page_positions,
                        .T = T};
    int64_t n = Rc + dr, values = (int64_t)T * heads * n;
    p.q = test_memory((size_t)values * sizeof(float));
    test_floats(p.q, values, seed);
    p.scale = 3 / sqrtf((float)n);
    p.pages = (base + T + page_positions - 1) / page_positions;
    p.page = test_memory((size_t)p.pages * sizeof(df_addr));
    for (int64_t i = 0; i < p.pages; i++) {
        float *page = test_memory((size_t)(page_positions * n) * sizeof(float));
        test_floats(page, page_positions * n, seed + 1 + (uint64_t)i);
        for (int64_t at = 0; at < page_positions * n; at++) /* what lies behind the last position is never looked at */
            if (i * page_positions + at / n >= base + T) page[at] = NAN;
        p.page[i] = test_address(page);
    }
    return p;
}

static void free_attend(struct problem *p) {
    for (int64_t i = 0; i < p->pages; i++)
        free((void *)(uintptr_t)p->page[i]);
    free(p->page);
    free(p->q);
}

static const float *cache_row(const struct problem *p, int64_t position) {
    const float *page = (const float *)(uintptr_t)p->page[position / p->page_positions];
    return page + position % p->page_positions * row_width(p);
}

static void run_attend(df_queue *q, void *problem, int32_t step, float *out) {
    const struct problem *p = problem;
    for (int32_t t = 0; t < p->T; t += step)
        test_ok(q, df_mla_attend(q, &p->shape, test_address(out + t * p->shape.heads * p->shape.Rc),
                                 test_address(p->q + t * p->shape.heads * row_width(p)), p->page, p->page_positions,
                                 p->base + t, t + step < p->T ? step : p->T - t, p->scale));
}

/* One query as docs/arithmetic.md words it. */
static void book_query(const struct problem *p, const float *q, int64_t positions, float *out) {
    int64_t n = row_width(p), Rc = p->shape.Rc;
    float m = -INFINITY, l = 0;
    for (int64_t c = 0; c < Rc; c++)
        out[c] = 0;
    for (int64_t start = 0; start < positions; start += 64) {
        float e[64], sums[64] = {0}, max = m;
        int64_t count = positions - start < 64 ? positions - start : 64;
        for (int64_t j = 0; j < count; j++) {
            e[j] = book_dot(cache_row(p, start + j), q, n) * p->scale;
            max = e[j] > max ? e[j] : max;
        }
        float keep = df_expf(m - max);
        for (int64_t j = 0; j < count; j++)
            sums[j] = e[j] = df_expf(e[j] - max);
        for (int h = 32; h > 0; h /= 2)
            for (int j = 0; j < h; j++)
                sums[j] = sums[j] + sums[j + h];
        l = __builtin_fmaf(l, keep, sums[0]);
        m = max;
        for (int64_t c = 0; c < Rc; c++) {
            float sum = out[c] * keep;
            for (int64_t j = 0; j < count; j++)
                sum = __builtin_fmaf(e[j], cache_row(p, start + j)[c], sum);
            out[c] = sum;
        }
    }
    for (int64_t c = 0; c < Rc; c++)
        out[c] = out[c] / l;
}

static void exact_query(const struct problem *p, const float *q, int64_t positions, double *out) {
    double max = -INFINITY, sum = 0, *e = test_memory((size_t)positions * sizeof *e);
    for (int64_t c = 0; c < p->shape.Rc; c++)
        out[c] = 0;
    for (int64_t j = 0; j < positions; j++) {
        for (int64_t c = 0; c < row_width(p); c++)
            e[j] += (double)q[c] * (double)cache_row(p, j)[c];
        e[j] *= (double)p->scale;
        max = fmax(max, e[j]);
    }
    for (int64_t j = 0; j < positions; j++)
        sum += e[j] = exp(e[j] - max);
    for (int64_t j = 0; j < positions; j++)
        for (int64_t c = 0; c < p->shape.Rc; c++)
            out[c] += e[j] / sum * (double)cache_row(p, j)[c];
    free(e);
}

/* A few queries of a large problem, all of a small one. */
static void check_attended(const char *name, const struct problem *p, const float *out) {
    int64_t queries = (int64_t)p->T * p->shape.heads, Rc = p->shape.Rc;
    int64_t stride = 1 + queries * (p->base + p->T) * row_width(p) / 20000000;
    float *book = test_memory((size_t)Rc * sizeof *book);
    double *exact = test_memory((size_t)Rc * sizeof *exact);
    for (int64_t u = queries - 1; u >= 0; u -= stride) {
        const float *q = p->q + u * row_width(p);
        int64_t positions = p->base + u / p->shape.heads + 1;
        book_query(p, q, positions, book);
        CHECK(test_difference(book, out + u * Rc, Rc) < 0, "%s: query %lld does not keep the written order", name,
              (long long)u);
        exact_query(p, q, positions, exact);
        check_close(name, out + u * Rc, exact, Rc, 2e-5, 2e-6);
    }
    free(exact);
    free(book);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------
 */

static void check_refusals(df_queue *q) {
    float x[64 * 2] = {0}, y[2];
    df_addr page[1] = {test_address(x)}, none[1] = {0}, a = test_address(x), out = test_address(y);
    df_mla_shape good = {a, DF_F32, 1, 1, 1, 1, 1}, bad = good;
    test_ok(q, df_mla_attend(q, &good, out, a, page, 64, 0, 1, 1));
    CHECK(df_mla_attend(q, &good, out, a, page, 63, 0, 1, 1) == DF_E_ARGUMENT, "page of 63");
    CHECK(df_mla_attend(q, &good, out, a, page, 64, -1, 1, 1) == DF_E_ARGUMENT, "base -1");
    CHECK(df_mla_attend(q, &good, out, a, none, 64, 0, 1, 1) == DF_E_ARGUMENT, "page missing");
    CHECK(df_mla_attend(q, &good, out, a, NULL, 64, 0, 1, 1) == DF_E_ARGUMENT, "pages missing");
    CHECK(df_mla_attend(q, &good, out, 0, page, 64, 0, 1, 1) == DF_E_ARGUMENT, "q missing");
    CHECK(df_mla_attend(q, &good, out, a, page, 64, 0, 0, 1) == DF_E_ARGUMENT, "no rows");
    bad.format = DF_MXFP4;
    CHECK(df_mla_absorb(q, &bad, out, a, 1) == DF_E_ARGUMENT, "MXFP4 kv_b");
    bad = good;
    bad.kv_b = 0;
    CHECK(df_mla_absorb(q, &bad, out, a, 1) == DF_E_ARGUMENT, "no kv_b");
    bad = good;
    bad.heads = 0;
    CHECK(df_mla_absorb(q, &bad, out, a, 1) == DF_E_ARGUMENT, "no heads");
    df_queue_wait(q);
}

static const struct {
    df_mla_shape shape;
    int32_t T;
    uint64_t hash;
} absorbs[] = {
    {{0, DF_BF16, 1, 1, 0, 1, 1}, 1, 0x05032e4ecb662bf9},     {{0, DF_BF16, 3, 5, 3, 9, 7}, 5, 0x07bf95f5f9c426ad},
    {{0, DF_F32, 2, 33, 2, 40, 31}, 3, 0x50d25bd85f6ca7cb},   {{0, DF_BF16, 4, 48, 16, 64, 64}, 9, 0x2dbcd1163ef96f3c},
    {{0, DF_BF16, 2, 17, 5, 8, 300}, 64, 0x34a5386dcc9c7874}, {{0, DF_F32, 5, 128, 64, 96, 515}, 6, 0x7926ac43e5d0420c},
};

static const struct {
    int32_t heads;
    int64_t Rc, dr, base;
    int32_t T;
    int64_t page_positions;
    uint64_t hash;
} attends[] = {
    {1, 1, 0, 0, 1, 64, 0xbbcdda736279bacd},        {3, 7, 2, 0, 5, 64, 0xbb8a21d582f2880c},
    {4, 64, 16, 61, 9, 64, 0xe79111a010e53ce7},     {5, 33, 30, 126, 64, 128, 0x64fdd19611269e2c},
    {96, 64, 64, 63, 2, 64, 0x95c67b7a655fc286},    {3, 100, 27, 1000, 3, 192, 0x8622e2130bab770e},
    {2, 40, 8, 4990, 10, 1024, 0xe1b4aab85f6ad79a}, {40, 512, 64, 300, 2, 256, 0x7bafef7cfc04b151},
};

int main(int argc, char **argv) {
    int quick = test_quick(argc, argv);
    every_open();
    for (unsigned i = 0; i < sizeof absorbs / sizeof *absorbs; i++) {
        struct problem p = new_absorb(absorbs[i].shape, absorbs[i].T, 400 + i);
        int64_t n = p.T * p.shape.heads * row_width(&p);
        float *out = test_memory((size_t)n * sizeof *out);
        char name[64];
        snprintf(name, sizeof name, "absorb %d heads, %lld to %lld", p.shape.heads, (long long)p.shape.dn,
                 (long long)p.shape.Rc);
        test_golden(name, every_run(name, run_absorb, &p, p.T, out, n), absorbs[i].hash);
        check_absorbed(name, &p, out);
        free(out);
        free(p.q);
        free(p.kv_b - 2);
    }
    for (unsigned i = 0; i < sizeof attends / sizeof *attends; i++) {
        char name[64];
        snprintf(name, sizeof name, "attend %d heads of %lld, %lld + %d rows", attends[i].heads,
                 (long long)(attends[i].Rc + attends[i].dr), (long long)attends[i].base, attends[i].T);
        if (quick && attends[i].Rc == 512) {
            printf("  %s: skipped by --quick\n", name);
            continue;
        }
        struct problem p = new_attend(attends[i].heads, attends[i].Rc, attends[i].dr, attends[i].base, attends[i].T,
                                      attends[i].page_positions, 500 + i);
        int64_t n = p.T * p.shape.heads * p.shape.Rc;
        float *out = test_memory((size_t)n * sizeof *out);
        test_golden(name, every_run(name, run_attend, &p, p.T, out, n), attends[i].hash);
        check_attended(name, &p, out);
        free(out);
        free_attend(&p);
    }
    check_refusals(every[0].queue);
    every_close();
    return test_end();
}
