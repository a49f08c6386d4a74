/* df_matmul and df_mla_expand: every instruction set against the scalar twin, T rows against one by one, any thread
 * count, any alignment, worst values; bit for bit. */
#include "test.h"

struct shape {
    int32_t format;
    int64_t rows, cols;
    int32_t T;
    uint64_t hash; /* of the results on every platform */
};

/* Odd counts, less than a group, one row, a group and one column, odd numbers of MXFP4 blocks. */
static const struct shape shapes[] = {
    {DF_BF16, 1, 1, 1, 0xcc1347e32a381a29},        {DF_BF16, 5, 63, 3, 0x145c75d37f0a591d},
    {DF_BF16, 17, 64, 5, 0x8c95f541d10bf9a6},      {DF_BF16, 33, 65, 7, 0x612902fba09b15c1},
    {DF_BF16, 67, 200, 9, 0xb9b8ad1de58f008c},     {DF_BF16, 100, 577, 64, 0x4706dce9b63c84d6},
    {DF_F32, 1, 2, 1, 0x207ebb7d4fdd4105},         {DF_F32, 9, 31, 4, 0x8062dac9778b8a4e},
    {DF_F32, 31, 128, 6, 0xfe43753aae80a512},      {DF_F32, 70, 333, 17, 0xf4f7007d7dd83d00},
    {DF_MXFP4, 1, 32, 1, 0x3e79b2c5cbedcb50},      {DF_MXFP4, 7, 96, 3, 0xf433cf3855d550b3},
    {DF_MXFP4, 35, 64, 8, 0x2c588f2e8839385c},     {DF_MXFP4, 66, 480, 11, 0x3eeb552d65846e37},
    {DF_MXFP4, 129, 2208, 64, 0x0b128121a63cd70b},
};
#define SHAPES (int)(sizeof shapes / sizeof *shapes)

/* How weights and x are drawn: the ordinary case, or the widest. */
enum values { ORDINARY, WORST };

struct problem {
    struct shape shape;
    uint8_t *w, *scales; /* deliberately unaligned */
    float *x;
    int64_t x_stride, y_stride;
};

static int64_t weight_bytes(const struct shape *s) {
    return s->rows * (s->format == DF_MXFP4 ? s->cols / 2 : s->format == DF_BF16 ? s->cols * 2 : s->cols * 4);
}

static void draw_weights(struct problem *p, enum values values, uint64_t seed) {
    const struct shape *s = &p->shape;
    int64_t bytes = weight_bytes(s), blocks = s->rows * (s->cols / 32);
    if (s->format == DF_MXFP4) {
        test_bytes(p->w, bytes, seed);
        for (int64_t i = 0; i < blocks; i++)
            p->scales[i] = (uint8_t)(values == WORST ? test_next(&seed) % 255 : 118 + test_next(&seed) % 12);
        return;
    }
    for (int64_t i = 0; i < s->rows * s->cols; i++) {
        float value = values == WORST ? test_any_finite(&seed) : test_float(&seed);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (s->format == DF_BF16) {
            uint16_t top = (uint16_t)(bits >> 16);
            memcpy(p->w + 2 * i, &top, 2);
        } else {
            memcpy(p->w + 4 * i, &value, 4);
        }
    }
}

static struct problem new_problem(const struct shape *s, enum values values, uint64_t seed) {
    struct problem p = {.shape = *s, .x_stride = s->cols + 3, .y_stride = s->rows + 5};
    p.w = (uint8_t *)test_memory((size_t)weight_bytes(s) + 1) + 1;
    p.scales = (uint8_t *)test_memory((size_t)(s->rows * (s->cols / 32)) + 3) + 3;
    p.x = test_memory((size_t)(s->T * p.x_stride) * sizeof(float));
    draw_weights(&p, values, seed);
    for (int64_t i = 0; i < s->T * p.x_stride; i++)
        p.x[i] = values == WORST ? test_any_finite(&seed) : test_float(&seed);
    return p;
}

static void free_problem(struct problem *p) {
    free(p->w - 1);
    free(p->scales - 3);
    free(p->x);
}

static df_matmul_op op_of(const struct problem *p, const float *x, float *y) {
    return (df_matmul_op){test_address(p->w), test_address(p->scales),
                          test_address(x),    test_address(y),
                          p->shape.rows,      p->shape.cols,
                          p->x_stride,        p->y_stride,
                          p->shape.format,    0};
}

static void multiply(df_queue *q, const struct problem *p, const float *x, float *y, int32_t T) {
    df_matmul_op op = op_of(p, x, y);
    test_ok(q, df_matmul(q, &op, 1, T));
}

/* All T rows at once, then one by one, against `expected`; the gap after each row of y must stay as it was. */
static void check_problem(df_queue *q, const char *who, const struct problem *p, const float *expected) {
    const struct shape *s = &p->shape;
    int64_t n = s->T * p->y_stride;
    float *y = test_memory((size_t)n * sizeof *y);
    multiply(q, p, p->x, y, s->T);
    int64_t at = test_difference(expected, y, n);
    CHECK(at < 0, "%s: format %d %lldx%lld T %d: y[%lld] = %a, expected %a", who, s->format, (long long)s->rows,
          (long long)s->cols, s->T, (long long)at, (double)y[at], (double)expected[at]);
    memset(y, 0, (size_t)n * sizeof *y);
    for (int32_t t = 0; t < s->T; t++)
        multiply(q, p, p->x + t * p->x_stride, y + t * p->y_stride, 1);
    at = test_difference(expected, y, n);
    CHECK(at < 0, "%s: format %d %lldx%lld row by row: y[%lld] = %a, expected %a", who, s->format, (long long)s->rows,
          (long long)s->cols, (long long)at, (double)y[at], (double)expected[at]);
    free(y);
}

/* The scalar twin once more, from the words of docs/arithmetic.md alone. */
static float by_the_book(const struct problem *p, int64_t r, const float *x) {
    static const float e2m1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    const struct shape *s = &p->shape;
    int sums = s->format == DF_MXFP4 ? 32 : 64;
    float u[64] = {0};
    for (int64_t c = 0; c < s->cols; c++) {
        if (s->format == DF_MXFP4) {
            if (c % 2) continue;
            uint8_t byte = p->w[(r * s->cols + c) / 2];
            float low = e2m1[byte & 7], high = e2m1[byte >> 4 & 7];
            low = byte & 8 ? -low : low;
            high = byte & 128 ? -high : high;
            float t = low * x[c];
            t = __builtin_fmaf(high, x[c + 1], t);
            int i = (int)(c / 32 % 2 * 16 + c % 32 / 2);
            u[i] = __builtin_fmaf(t, __builtin_ldexpf(1, p->scales[(r * s->cols + c) / 32] - 127), u[i]);
        } else {
            float w;
            if (s->format == DF_F32) {
                memcpy(&w, p->w + 4 * (r * s->cols + c), 4);
            } else {
                uint16_t top;
                memcpy(&top, p->w + 2 * (r * s->cols + c), 2);
                uint32_t bits = (uint32_t)top << 16;
                memcpy(&w, &bits, 4);
            }
            int i = (int)((c % 2 ? 32 : 0) + c % 64 / 2);
            u[i] = __builtin_fmaf(w, x[c], u[i]);
        }
    }
    for (int n = sums / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++)
            u[i] = u[i] + u[i + n];
    return u[0];
}

static float *reference(const struct problem *p) {
    float *y = test_memory((size_t)(p->shape.T * p->y_stride) * sizeof *y);
    for (int32_t t = 0; t < p->shape.T; t++)
        for (int64_t r = 0; r < p->shape.rows; r++)
            y[t * p->y_stride + r] = by_the_book(p, r, p->x + t * p->x_stride);
    return y;
}

static void test_shapes(df_queue *q, const char *who, enum values values, int print) {
    for (int i = 0; i < SHAPES; i++) {
        struct problem p = new_problem(&shapes[i], values, 1000 + (uint64_t)i);
        float *expected = reference(&p);
        check_problem(q, who, &p, expected);
        if (print) {
            char name[64];
            snprintf(name, sizeof name, "format %d, %lld x %lld, T %d", p.shape.format, (long long)p.shape.rows,
                     (long long)p.shape.cols, p.shape.T);
            test_golden(name, test_hash(TEST_HASH, expected, p.shape.T * p.y_stride), p.shape.hash);
        }
        free(expected);
        free_problem(&p);
    }
}

/* Every T from 1 to `most`, so that every way of cutting T into tiles occurs. */
static void test_every_T(df_queue *q, const char *who, int32_t most) {
    for (int32_t format = DF_BF16; format <= DF_MXFP4; format++) {
        struct shape s = {format, 19, format == DF_MXFP4 ? 224 : 201, most, 0};
        struct problem p = new_problem(&s, ORDINARY, 77);
        float *expected = reference(&p), *y = test_memory((size_t)(most * p.y_stride) * sizeof *y);
        for (int32_t T = 1; T <= most; T++) {
            memset(y, 0, (size_t)(most * p.y_stride) * sizeof *y);
            multiply(q, &p, p.x, y, T);
            CHECK(test_difference(expected, y, T * p.y_stride) < 0, "%s: format %d T %d", who, format, T);
        }
        free(expected);
        free(y);
        free_problem(&p);
    }
}

/* Every byte value in every place of a block, under the least, the largest and a middle scale. */
static void test_all_bytes(df_queue *q, const char *who) {
    static const uint8_t scales[] = {0, 1, 2, 26, 27, 127, 253, 254};
    struct shape s = {DF_MXFP4, 256, 96, 3, 0};
    struct problem p = new_problem(&s, ORDINARY, 5);
    for (int64_t r = 0; r < 256; r++)
        for (int64_t i = 0; i < 48; i++)
            p.w[r * 48 + i] = (uint8_t)(r + i * 37);
    for (size_t i = 0; i < sizeof scales; i++) {
        memset(p.scales, scales[i], 256 * 3);
        float *expected = reference(&p);
        check_problem(q, who, &p, expected);
        free(expected);
    }
    free_problem(&p);
}

/* Infinities and NaN in x come out as the scalar order makes them (a NaN's payload is not compared). */
static void test_not_finite(df_queue *q, const char *who) {
    for (int32_t format = DF_BF16; format <= DF_MXFP4; format++) {
        struct shape s = {format, 6, 160, 4, 0};
        struct problem p = new_problem(&s, ORDINARY, 6);
        p.x[3] = __builtin_inff();
        p.x[p.x_stride + 64] = -__builtin_inff();
        p.x[2 * p.x_stride + 150] = __builtin_nanf("");
        float *expected = reference(&p);
        check_problem(q, who, &p, expected);
        free(expected);
        free_problem(&p);
    }
}

/* Several products in one call, two of them over the same x. */
static void test_several(df_queue *q, const char *who) {
    struct shape a = {DF_BF16, 40, 96, 5, 0}, b = {DF_F32, 7, 96, 5, 0}, c = {DF_MXFP4, 90, 96, 5, 0},
                 d = {DF_BF16, 3, 50, 5, 0};
    struct problem p[4] = {new_problem(&a, ORDINARY, 1), new_problem(&b, ORDINARY, 2), new_problem(&c, ORDINARY, 3),
                           new_problem(&d, ORDINARY, 4)};
    float *y[4], *expected[4];
    df_matmul_op ops[4];
    for (int i = 0; i < 4; i++) {
        if (i < 3) memcpy(p[i].x, p[0].x, (size_t)(5 * p[0].x_stride) * sizeof(float));
        expected[i] = reference(&p[i]);
        y[i] = test_memory((size_t)(5 * p[i].y_stride) * sizeof(float));
        ops[i] = op_of(&p[i], i < 3 ? p[0].x : p[i].x, y[i]);
    }
    test_ok(q, df_matmul(q, ops, 4, 5));
    for (int i = 0; i < 4; i++) {
        CHECK(test_difference(expected[i], y[i], 5 * p[i].y_stride) < 0, "%s: product %d of one call", who, i);
        free(expected[i]);
        free(y[i]);
        free_problem(&p[i]);
    }
}

/* df_mla_expand is a product per head with that head's value rows. */
static void test_expand(df_queue *q, const char *who) {
    for (int32_t format = DF_BF16; format <= DF_F32; format++) {
        df_mla_shape shape = {0, format, 3, 10, 4, 21, 72};
        struct shape kv = {format, 3 * (10 + 21), 72, 4 * 3, 0};
        struct problem p = new_problem(&kv, ORDINARY, 8);
        p.x_stride = 72;
        shape.kv_b = test_address(p.w);
        float out[4 * 3 * 21];
        test_ok(q, df_mla_expand(q, &shape, test_address(out), test_address(p.x), 4));
        int wrong = 0;
        for (int t = 0; t < 4; t++)
            for (int n = 0; n < 3; n++)
                for (int j = 0; j < 21; j++) {
                    float expected = by_the_book(&p, n * 31 + 10 + j, p.x + (t * 3 + n) * 72);
                    wrong += memcmp(&expected, &out[(t * 3 + n) * 21 + j], sizeof expected) != 0;
                }
        CHECK(!wrong, "%s: df_mla_expand format %d: %d values differ", who, format, wrong);
        free_problem(&p);
    }
}

static void test_refusals(df_queue *q) {
    struct shape s = {DF_MXFP4, 4, 64, 1, 0};
    struct problem p = new_problem(&s, ORDINARY, 9);
    float y[16];
    df_matmul_op good = op_of(&p, p.x, y), bad;
    CHECK(df_matmul(NULL, &good, 1, 1) == DF_E_ARGUMENT, "null queue");
    CHECK(df_matmul(q, NULL, 1, 1) == DF_E_ARGUMENT, "null ops");
    CHECK(df_matmul(q, &good, 1, 0) == DF_E_ARGUMENT, "T = 0");
    CHECK(df_matmul(q, &good, -1, 1) == DF_E_ARGUMENT, "n < 0");
    CHECK(df_matmul(q, NULL, 0, 1) == DF_OK || df_queue_wait(q), "nothing to do");
#define REFUSED(change)                                                                                                \
    bad = good;                                                                                                        \
    bad.change;                                                                                                        \
    CHECK(df_matmul(q, &bad, 1, 1) == DF_E_ARGUMENT && strstr(df_queue_error(q), "df_matmul"), #change)
    REFUSED(format = 9);
    REFUSED(rows = 0);
    REFUSED(cols = -64);
    REFUSED(cols = 40);
    REFUSED(w = 0);
    REFUSED(scales = 0);
    REFUSED(x = 0);
    REFUSED(y = 0);
    REFUSED(rows = INT64_MAX);
    bad = good;
    bad.y_stride = 3;
    CHECK(df_matmul(q, &bad, 1, 2) == DF_E_ARGUMENT, "y_stride < rows");
    CHECK(df_queue_wait(q) == DF_E_ARGUMENT && df_queue_wait(q) == DF_OK, "wait reports the first failure once");
    free_problem(&p);
}

int main(int argc, char **argv) {
    int quick = test_quick(argc, argv);
    for (int32_t isa = DF_ISA_SCALAR; isa <= DF_ISA_NEON; isa++)
        for (int32_t threads = 1; threads <= 8; threads++) {
            if (threads > (quick ? 2 : 3) && threads != 8) continue;
            if (quick && threads == 8) continue;
            df_device *device = test_device(isa, threads);
            if (!device) {
                if (threads == 1) printf("skipped %s: %s\n", test_isa_names[isa], df_last_error());
                continue;
            }
            char who[32];
            snprintf(who, sizeof who, "%s, %d threads", test_isa_names[isa], threads);
            printf("%s\n", who);
            df_queue *q = test_queue(device);
            test_shapes(q, who, ORDINARY, isa == DF_ISA_SCALAR && threads == 1);
            test_shapes(q, who, WORST, 0);
            test_every_T(q, who, quick ? 17 : 66);
            test_all_bytes(q, who);
            test_not_finite(q, who);
            test_several(q, who);
            test_expand(q, who);
            test_refusals(q);
            df_queue_close(q);
            df_device_close(device);
        }
    return test_end();
}
