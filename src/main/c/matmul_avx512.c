/* AVX-512: one MXFP4 block is one vector of low and one of high nibbles, each looked up by a single permutation. */
#define DF_LANES_AVX512
#include "lanes.h"

/* u[i] += u[i + n/2] until one is left. */
static inline float v_halve(vf v) {
    __m256 a = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

/* The 32 bf16 or f32 weights at p: those of even and of odd columns. */
static inline void v_pairs_bf16(const uint8_t *p, vf *even, vf *odd) {
    __m512i w = _mm512_loadu_si512(p);
    *even = _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
    *odd = _mm512_castsi512_ps(_mm512_and_si512(w, _mm512_set1_epi32((int)0xffff0000)));
}
static inline void v_pairs_f32(const uint8_t *p, vf *even, vf *odd) {
    const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    vf a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 64);
    *even = _mm512_permutex2var_ps(a, evens, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), b);
}

static inline int mx_parity(int v, int l) {
    return (void)l, v;
}
static inline int mx_byte(int v, int l) {
    return (void)v, l;
}

static inline void mx_decode(const uint8_t *w, vf *low, vf *high) {
    const vf table = _mm512_setr_ps(0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f, -1.0f, -1.5f, -2.0f,
                                    -3.0f, -4.0f, -6.0f);
    for (int v = 0; v < 2; v++) {
        __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(w + 16 * v)));
        low[v] = _mm512_permutexvar_ps(bytes, table); /* the low four bits of a lane are its index */
        high[v] = _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table);
    }
}

static inline void mx_widen_scales(float *to, const uint8_t *scales, int64_t n) {
    const __m512i least = _mm512_set1_epi32(0x00400000);
    for (int64_t i = 0; i < n; i += 16) {
        const __mmask16 some = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512i bits = _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(some, scales + i)), 23);
        _mm512_storeu_si512(to + i, _mm512_max_epu32(bits, least));
    }
}

static inline vf mx_scale(const float *pair, int v) {
    return vf_set(pair[v]);
}
static inline float mx_halve(const vf *sum) {
    return v_halve(vf_add(sum[0], sum[1]));
}

#define TILE_R 4    /* rows at once with one row of x */
#define TILE_T_MX 8 /* most rows of x whose MXFP4 sums fit the registers */
#define STEP_R_64 4
#include "matmul_kernels.inc"

const struct df_matmul df_matmul_avx512 = {arrange, multiply};
