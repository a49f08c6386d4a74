/*
 * Scalar maths shared by every provider: C (vectorised by the compiler), CUDA and Metal include this very file, so
 * that exp, tanh, sigmoid and softplus have the same bits everywhere.
 *
 * Only fused multiply-add, add, multiply, correctly rounded division and square root, comparison and bit moves occur;
 * there is no table, no branch and no libm. The compiler must neither contract nor reassociate: C -ffp-contract=off,
 * CUDA -fmad=false with subnormals kept, Metal without fast maths.
 *
 * Measured over all floats against long double (src/test/c/math_test.c --all prints it again), in units of the last
 * place of the result: see docs/arithmetic.md.
 */
#ifndef DF_MATH_H
#define DF_MATH_H

#if defined(__METAL_VERSION__)

#include <metal_stdlib>
#define DF_INLINE static inline
#define DF_FMA(a, b, c) metal::fma(a, b, c)
#define DF_DIV(a, b) metal::precise::divide(a, b)
#define DF_SQRT(a) metal::precise::sqrt(a)
DF_INLINE uint32_t df_bits(float x) {
    return as_type<uint32_t>(x);
}
DF_INLINE float df_float(uint32_t u) {
    return as_type<float>(u);
}

#else

#include <stdint.h>

#if defined(__CUDACC__)
#define DF_INLINE static __host__ __device__ __forceinline__
#else
#define DF_INLINE static inline __attribute__((always_inline))
#endif

#if defined(__CUDA_ARCH__)
#define DF_FMA(a, b, c) __fmaf_rn(a, b, c)
#define DF_DIV(a, b) __fdiv_rn(a, b)
#define DF_SQRT(a) __fsqrt_rn(a)
#else
#define DF_FMA(a, b, c) __builtin_fmaf(a, b, c)
#define DF_DIV(a, b) ((a) / (b))
#define DF_SQRT(a) __builtin_sqrtf(a)
#endif

DF_INLINE uint32_t df_bits(float x) {
    uint32_t u;
    __builtin_memcpy(&u, &x, sizeof u);
    return u;
}

DF_INLINE float df_float(uint32_t u) {
    float x;
    __builtin_memcpy(&x, &u, sizeof x);
    return x;
}

#endif

/* Adding and taking away 1.5 * 2^23 rounds to the nearest integer, which then sits in the low bits of the sum. */
#define DF_ROUND_MAGIC 12582912.0f

DF_INLINE float df_absf(float x) {
    return df_float(df_bits(x) & 0x7fffffffu);
}

/* |x| with the sign of s. */
DF_INLINE float df_signf(float x, float s) {
    return df_float((df_bits(x) & 0x7fffffffu) | (df_bits(s) & 0x80000000u));
}

/* The widened value of a bf16 pattern. */
DF_INLINE float df_bf16(uint16_t b) {
    return df_float((uint32_t)b << 16);
}

/* 2^n for n in -126..127. */
DF_INLINE float df_pow2f(int32_t n) {
    return df_float((uint32_t)(n + 127) << 23);
}

/* x / ln 2 rounded to an integer, still with DF_ROUND_MAGIC on top: the low bits hold it. */
DF_INLINE float df_octaves(float x) {
    return DF_FMA(x, 0x1.715476p+0f, DF_ROUND_MAGIC);
}

DF_INLINE int32_t df_octave_count(float octaves) {
    return (int32_t)(df_bits(octaves) - 0x4b400000u);
}

/* e^r - 1 for the rest r of x beyond its octaves, |r| <= 0.35. */
DF_INLINE float df_expm1_rest(float x, float octaves) {
    float n = octaves - DF_ROUND_MAGIC;
    float r = DF_FMA(n, -0x1.62e400p-1f, x); /* ln 2 in two parts, the first of 15 bits: n times it is exact */
    r = DF_FMA(n, -0x1.7f7d1cp-20f, r);
    float q = 0x1.a032c2p-13f;
    q = DF_FMA(q, r, 0x1.6d723ep-10f);
    q = DF_FMA(q, r, 0x1.11118ap-7f);
    q = DF_FMA(q, r, 0x1.5554b0p-5f);
    q = DF_FMA(q, r, 0x1.555554p-3f);
    q = DF_FMA(q, r, 0.5f);
    return DF_FMA(q, r * r, r);
}

/* e^x. Overflows to infinity, underflows through the subnormals to 0; NaN stays NaN. */
DF_INLINE float df_expf(float x) {
    x = x > 89.0f ? 89.0f : x; /* e^89 is infinite, e^-104 rounds to 0 */
    x = x < -104.0f ? -104.0f : x;
    float octaves = df_octaves(x);
    float p = 1.0f + df_expm1_rest(x, octaves);
    int32_t n = df_octave_count(octaves);
    int32_t half = n >> 1; /* two steps, so that only the last multiplication may round into the subnormals */
    return p * df_pow2f(half) * df_pow2f(n - half);
}

/* m / (m + 2) for m in 0..2^25, with the rounding of the sum put right: m + 2 = d + c exactly, and 1/d = (1 - m/d) / 2.
 */
DF_INLINE float df_over_plus_two(float m) {
    float d = m + 2.0f;
    float c = m - (d - 2.0f);
    float s = DF_DIV(m, d);
    return DF_FMA(c * s, DF_FMA(0.5f, s, -0.5f), s);
}

/* 1 / (1 + e^-x), from e^-|x| so that nothing overflows and small results keep their accuracy. */
DF_INLINE float df_sigmoidf(float x) {
    float s = df_over_plus_two(2.0f * df_expf(-df_absf(x)));
    return x < 0.0f ? s : 1.0f - s;
}

/* tanh x = m / (m + 2) with m = e^2|x| - 1 kept accurate near 0; +-1 from |x| = 8.66 on; the sign of zero is kept. */
DF_INLINE float df_tanhf(float x) {
    float a = 2.0f * df_absf(x);
    float octaves = df_octaves(a);
    float p = df_expm1_rest(a, octaves);
    float s = df_pow2f(df_octave_count(octaves));
    float v = df_over_plus_two(DF_FMA(s, p, s - 1.0f));
    return df_signf(a > 17.32f ? 1.0f : v, x);
}

/* log(1 + t) for t in 0..1, as 2 atanh(t / (2 + t)). */
DF_INLINE float df_log1pf(float t) {
    float s = df_over_plus_two(t);
    float z = s * s;
    float q = 0x1.be1798p-4f;
    q = DF_FMA(q, z, 0x1.5f4240p-4f);
    q = DF_FMA(q, z, 0x1.c8b9e2p-4f);
    q = DF_FMA(q, z, 0x1.248a66p-3f);
    q = DF_FMA(q, z, 0x1.9999bcp-3f);
    q = DF_FMA(q, z, 0x1.555556p-2f);
    s = s + s;
    return DF_FMA(s * z, q, s);
}

/* log(1 + e^x), from e^-|x|: never overflows, equals x where e^-x vanishes beside it. */
DF_INLINE float df_softplusf(float x) {
    return df_log1pf(df_expf(-df_absf(x))) + (x > 0.0f ? x : 0.0f);
}

/* x sig(x). k3-model.md 3.5.2 */
DF_INLINE float df_siluf(float x) {
    return x * df_sigmoidf(x);
}

/* (b1 tanh(g/b1) sig(g)) (b2 tanh(u/b2)), products in that order. k3-model.md 3.8 */
DF_INLINE float df_situf(float g, float u, float b1, float b2) {
    float gate = b1 * df_tanhf(DF_DIV(g, b1)) * df_sigmoidf(g);
    return gate * (b2 * df_tanhf(DF_DIV(u, b2)));
}

/* The same with u uncapped. */
DF_INLINE float df_situ_uncappedf(float g, float u, float b1) {
    return b1 * df_tanhf(DF_DIV(g, b1)) * df_sigmoidf(g) * u;
}

#endif
