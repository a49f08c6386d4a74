/*
 * One vector of fp32 lanes, the same few operations on every instruction set: kernels written over it are compiled
 * once a tier and keep their order of arithmetic, since a lane never meets another lane here. The including file says
 * which: DF_LANES_AVX2, DF_LANES_AVX512, DF_LANES_NEON, or none for one lane.
 */
#ifndef DF_LANES_H
#define DF_LANES_H

#include "df_math.h"

#include <math.h>
#include <string.h>

#if defined(DF_LANES_AVX512)

#include <immintrin.h>
#define VF 16 /* lanes of a vector */
typedef __m512 vf;
static inline vf vf_load(const float *p) {
    return _mm512_loadu_ps(p);
}
static inline void vf_store(float *p, vf a) {
    _mm512_storeu_ps(p, a);
}
static inline vf vf_set(float a) {
    return _mm512_set1_ps(a);
}
static inline vf vf_add(vf a, vf b) {
    return _mm512_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
    return _mm512_sub_ps(a, b);
}
static inline vf vf_mul(vf a, vf b) {
    return _mm512_mul_ps(a, b);
}
static inline vf vf_div(vf a, vf b) {
    return _mm512_div_ps(a, b);
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline vf vf_bf16(const uint16_t *p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16));
}

#elif defined(DF_LANES_AVX2)

#include <immintrin.h>
#define VF 8
typedef __m256 vf;
static inline vf vf_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline void vf_store(float *p, vf a) {
    _mm256_storeu_ps(p, a);
}
static inline vf vf_set(float a) {
    return _mm256_set1_ps(a);
}
static inline vf vf_add(vf a, vf b) {
    return _mm256_add_ps(a, b);
}
static inline vf vf_sub(vf a, vf b) {
    return _mm256_sub_ps(a, b);
}
static inline vf vf_mul(vf a, vf b) {
    return _mm256_mul_ps(a, b);
}
static inline vf vf_div(vf a, vf b) {
    return _mm256_div_ps(a, b);
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline vf vf_bf16(const uint16_t *p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p)), 16));
}

#elif defined(DF_LANES_NEON)

#include <arm_neon.h>
#define VF 4
typedef float32x4_t vf;
static inline vf vf_load(const float *p) {
    return vld1q_f32(p);
}
static inline void vf_store(float *p, vf a) {
    vst1q_f32(p, a);
}
static inline vf vf_set(float a) {
    return vdupq_n_f32(a);
}
static inline vf vf_add(vf a, vf b) {
    return vaddq_f32(a, b);
}
static inline vf vf_sub(vf a, vf b) {
    return vsubq_f32(a, b);
}
static inline vf vf_mul(vf a, vf b) {
    return vmulq_f32(a, b);
}
static inline vf vf_div(vf a, vf b) {
    return vdivq_f32(a, b);
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return vfmaq_f32(c, a, b);
}
static inline vf vf_bf16(const uint16_t *p) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}

#else

#define VF 1
typedef float vf;
/* Weights may lie at any address. */
static inline vf vf_load(const float *p) {
    vf a;
    memcpy(&a, p, sizeof a);
    return a;
}
static inline void vf_store(float *p, vf a) {
    *p = a;
}
static inline vf vf_set(float a) {
    return a;
}
static inline vf vf_add(vf a, vf b) {
    return a + b;
}
static inline vf vf_sub(vf a, vf b) {
    return a - b;
}
static inline vf vf_mul(vf a, vf b) {
    return a * b;
}
static inline vf vf_div(vf a, vf b) {
    return a / b;
}
static inline vf vf_fma(vf a, vf b, vf c) {
    return DF_FMA(a, b, c);
}
static inline vf vf_bf16(const uint16_t *p) {
    uint16_t b;
    memcpy(&b, p, sizeof b);
    return df_bf16(b);
}

#endif

/* The first n < VF lanes; the others are 0, or left alone in memory. */
static inline vf vf_load_part(const float *p, int64_t n) {
    float lanes[VF] = {0};
    memcpy(lanes, p, (size_t)n * sizeof *lanes);
    return vf_load(lanes);
}

static inline void vf_store_part(float *p, vf a, int64_t n) {
    float lanes[VF];
    vf_store(lanes, a);
    memcpy(p, lanes, (size_t)n * sizeof *lanes);
}

static inline vf vf_bf16_part(const uint16_t *p, int64_t n) {
    uint16_t lanes[VF] = {0};
    memcpy(lanes, p, (size_t)n * sizeof *lanes);
    return vf_bf16(lanes);
}

#endif
