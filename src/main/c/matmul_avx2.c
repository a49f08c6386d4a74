/* AVX2: byte shuffles look up the two bytes of a weight's bf16 pattern for two MXFP4 blocks at once, one in each half
 * of the register; unpacking them gives floats without a conversion. So a vector holds four bytes' worth of both
 * blocks. */
#define DF_LANES_AVX2
#include "lanes.h"

static inline float v_halve(vf v) {
    __m128 b = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    b = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}

/* The 16 bf16 or f32 weights at p: those of even and of odd columns. */
static inline void v_pairs_bf16(const uint8_t *p, vf *even, vf *odd) {
    __m256i w = _mm256_loadu_si256((const __m256i *)p);
    *even = _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
    *odd = _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32((int)0xffff0000)));
}
static inline vf v_unlace(__m256 even_or_odd) {
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(even_or_odd), 0xd8));
}
static inline void v_pairs_f32(const uint8_t *p, vf *even, vf *odd) {
    vf a = _mm256_loadu_ps((const float *)p), b = _mm256_loadu_ps((const float *)(p + 32));
    *even = v_unlace(_mm256_shuffle_ps(a, b, 0x88));
    *odd = v_unlace(_mm256_shuffle_ps(a, b, 0xdd));
}

static inline int mx_parity(int v, int l) {
    return (void)v, l / 4;
}
static inline int mx_byte(int v, int l) {
    return 4 * v + l % 4;
}

static inline void mx_decode_nibbles(__m256i nibbles, vf *to) {
    const __m256i top = _mm256_broadcastsi128_si256(_mm_setr_epi8(0x00, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40,
                                                                  (char)0x80, (char)0xbf, (char)0xbf, (char)0xbf,
                                                                  (char)0xc0, (char)0xc0, (char)0xc0, (char)0xc0));
    const __m256i bottom =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, (char)0x80, (char)0xc0, 0, 0x40, (char)0x80, (char)0xc0, 0, 0,
                                                  (char)0x80, (char)0xc0, 0, 0x40, (char)0x80, (char)0xc0));
    const __m256i zero = _mm256_setzero_si256();
    __m256i high = _mm256_shuffle_epi8(top, nibbles), low = _mm256_shuffle_epi8(bottom, nibbles);
    __m256i first = _mm256_unpacklo_epi8(low, high), second = _mm256_unpackhi_epi8(low, high);
    to[0] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, first));
    to[1] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, first));
    to[2] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, second));
    to[3] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, second));
}

static inline void mx_decode(const uint8_t *w, vf *low, vf *high) {
    const __m256i four_bits = _mm256_set1_epi8(15);
    __m256i bytes = _mm256_loadu_si256((const __m256i *)w);
    mx_decode_nibbles(_mm256_and_si256(bytes, four_bits), low);
    mx_decode_nibbles(_mm256_and_si256(_mm256_srli_epi16(bytes, 4), four_bits), high);
}

static inline void mx_widen_scales(float *to, const uint8_t *scales, int64_t n) {
    const __m256i least = _mm256_set1_epi32(0x00400000);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i bits = _mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(scales + i))), 23);
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_max_epu32(bits, least));
    }
    for (; i < n; i++) {
        uint32_t bits = scales[i] ? (uint32_t)scales[i] << 23 : 0x00400000;
        __builtin_memcpy(to + i, &bits, sizeof bits);
    }
}

static inline vf mx_scale(const float *pair, int v) {
    (void)v;
    return _mm256_blend_ps(_mm256_broadcast_ss(pair), _mm256_broadcast_ss(pair + 1), 0xf0);
}

static inline float mx_halve(const vf *sum) {
    __m128 u[4];
    for (int v = 0; v < 4; v++)
        u[v] = _mm_add_ps(_mm256_castps256_ps128(sum[v]), _mm256_extractf128_ps(sum[v], 1));
    __m128 t = _mm_add_ps(_mm_add_ps(u[0], u[2]), _mm_add_ps(u[1], u[3]));
    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
}

#define TILE_R 1    /* rows at once with one row of x */
#define TILE_T_MX 2 /* most rows of x whose MXFP4 sums fit the registers */
#define STEP_R_64 2
#include "matmul_kernels.inc"

const struct df_matmul df_matmul_avx2 = {arrange, multiply};
