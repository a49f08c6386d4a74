/* df_math.h against long double: exp, sigmoid, tanh, softplus, log1p. By default every 997th float; --all takes every
 * float, --quick few. Prints the worst error in units of the last place and a hash over the bits of the results. */
#include "df_math.h"
#include "test.h"

#include <float.h>
#include <math.h>

struct function {
    const char *name;
    float (*ours)(float);
    long double (*exact)(long double);
    float low, high; /* the range in which the bound holds */
    double bound;    /* units of the last place */
    uint64_t hash;   /* over every 65536th bit pattern, whatever its value */
};

static float our_exp(float x) {
    return df_expf(x);
}
static float our_sigmoid(float x) {
    return df_sigmoidf(x);
}
static float our_tanh(float x) {
    return df_tanhf(x);
}
static float our_softplus(float x) {
    return df_softplusf(x);
}
static float our_log1p(float x) {
    return df_log1pf(x);
}
static long double exact_sigmoid(long double x) {
    return 1 / (1 + expl(-x));
}
static long double exact_softplus(long double x) {
    return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x));
}

static const struct function functions[] = {
    {"exp, x <= 0", our_exp, expl, -FLT_MAX, 0, 1.0, 0x5d96519bc0e46bff},
    {"exp", our_exp, expl, -FLT_MAX, 88.72f, 1.0, 0x5d96519bc0e46bff},
    {"sigmoid", our_sigmoid, exact_sigmoid, -FLT_MAX, FLT_MAX, 1.97, 0x880ec37f1f31adf2},
    {"tanh", our_tanh, tanhl, -FLT_MAX, FLT_MAX, 1.96, 0x80b62047c3ff3c26},
    {"softplus", our_softplus, exact_softplus, -FLT_MAX, FLT_MAX, 2.42, 0xd9813b5138ee0f92},
    {"log1p, 0 <= x <= 1", our_log1p, log1pl, 0, 1, 1.58, 0x7ebdd7f8caa7b6a9},
};
#define FUNCTIONS (int)(sizeof functions / sizeof *functions)

/* Of the last place of the float nearest to v; subnormal results count in units of the smallest. */
static double error_in_places(float got, long double exact) {
    int exponent;
    frexpl(exact, &exponent);
    if (exponent < -125) exponent = -125;
    return (double)fabsl(ldexpl((long double)got - exact, 24 - exponent));
}

static void sweep(const struct function *f, uint64_t step) {
    double worst = 0;
    float at = 0;
    uint64_t count = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
        float x = df_float((uint32_t)bits);
        if (!(x >= f->low && x <= f->high)) continue;
        double error = error_in_places(f->ours(x), f->exact(x));
        count++;
        if (error <= worst) continue;
        worst = error;
        at = x;
    }
    printf("  %-20s worst %.4f ulp at %a, %llu values\n", f->name, worst, (double)at, (unsigned long long)count);
    CHECK(worst <= f->bound, "%s is off by %.4f ulp at %a; the bound is %.2f", f->name, worst, (double)at, f->bound);
}

static uint64_t bits_hash(const struct function *f) {
    uint64_t hash = TEST_HASH;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 65536 - 17) {
        float y = f->ours(df_float((uint32_t)bits));
        hash = test_hash(hash, &y, 1);
    }
    return hash;
}

static void check_edges(void) {
    CHECK(df_expf(0) == 1 && df_expf(-0.0f) == 1, "exp 0");
    CHECK(df_expf(INFINITY) == INFINITY && df_expf(89) == INFINITY, "exp overflows to infinity");
    CHECK(df_expf(-INFINITY) == 0 && df_expf(-104) == 0, "exp underflows to 0");
    CHECK(df_expf(-100) > 0 && df_expf(-100) < FLT_MIN, "exp keeps subnormals");
    CHECK(df_sigmoidf(0) == 0.5f && df_sigmoidf(INFINITY) == 1 && df_sigmoidf(-INFINITY) == 0, "sigmoid's ends");
    CHECK(df_sigmoidf(100) == 1 && df_sigmoidf(-200) == 0, "sigmoid saturates");
    CHECK(df_tanhf(INFINITY) == 1 && df_tanhf(-INFINITY) == -1 && df_tanhf(FLT_MAX) == 1, "tanh's ends");
    CHECK(df_bits(df_tanhf(-0.0f)) == 0x80000000u && df_bits(df_tanhf(0)) == 0, "tanh keeps the sign of zero");
    CHECK(df_tanhf(1e-40f) == 1e-40f, "tanh of a subnormal");
    CHECK(df_softplusf(INFINITY) == INFINITY && df_softplusf(-INFINITY) == 0 && df_softplusf(50) == 50,
          "softplus's ends");
    for (int i = 0; i < FUNCTIONS; i++)
        CHECK(isnan(functions[i].ours(NAN)), "%s of NaN", functions[i].name);
    for (uint32_t bits = 0; bits < 0x7f800000u; bits += 1009) {
        float x = df_float(bits);
        CHECK(df_tanhf(-x) == -df_tanhf(x), "tanh is odd at %a", (double)x);
    }
}

int main(int argc, char **argv) {
    int all = argc > 1 && !strcmp(argv[1], "--all");
    check_edges();
    for (int i = 0; i < FUNCTIONS; i++) {
        sweep(&functions[i], all ? 1 : test_quick(argc, argv) ? 9973 : 997);
        test_golden(functions[i].name, bits_hash(&functions[i]), functions[i].hash);
    }
    return test_end();
}
