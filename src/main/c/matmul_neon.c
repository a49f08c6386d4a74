/* NEON: table lookups give the two bytes of a weight's bf16 pattern, zipping them floats, in the order of the bytes. */
#define DF_LANES_NEON
#include "lanes.h"

static inline float v_halve(vf v) {
    float32x2_t a = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(a, 0) + vget_lane_f32(a, 1);
}

/* The 8 bf16 or f32 weights at p: those of even and of odd columns. */
static inline void v_pairs_bf16(const uint8_t *p, vf *even, vf *odd) {
    uint32x4_t w = vreinterpretq_u32_u8(vld1q_u8(p));
    *even = vreinterpretq_f32_u32(vshlq_n_u32(w, 16));
    *odd = vreinterpretq_f32_u32(vandq_u32(w, vdupq_n_u32(0xffff0000)));
}
static inline void v_pairs_f32(const uint8_t *p, vf *even, vf *odd) {
    vf a = vreinterpretq_f32_u8(vld1q_u8(p)), b = vreinterpretq_f32_u8(vld1q_u8(p + 16));
    *even = vuzp1q_f32(a, b);
    *odd = vuzp2q_f32(a, b);
}

static inline int mx_parity(int v, int l) {
    return (void)l, v / 4;
}
static inline int mx_byte(int v, int l) {
    return v % 4 * 4 + l;
}

static inline void mx_decode_nibbles(uint8x16_t nibbles, vf *to) {
    static const uint8_t top[16] = {0x00, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40,
                                    0x80, 0xbf, 0xbf, 0xbf, 0xc0, 0xc0, 0xc0, 0xc0};
    static const uint8_t bottom[16] = {0, 0, 0x80, 0xc0, 0, 0x40, 0x80, 0xc0, 0, 0, 0x80, 0xc0, 0, 0x40, 0x80, 0xc0};
    const uint16x8_t zero = vdupq_n_u16(0);
    uint8x16_t high = vqtbl1q_u8(vld1q_u8(top), nibbles), low = vqtbl1q_u8(vld1q_u8(bottom), nibbles);
    uint16x8_t first = vreinterpretq_u16_u8(vzip1q_u8(low, high)), second = vreinterpretq_u16_u8(vzip2q_u8(low, high));
    to[0] = vreinterpretq_f32_u16(vzip1q_u16(zero, first));
    to[1] = vreinterpretq_f32_u16(vzip2q_u16(zero, first));
    to[2] = vreinterpretq_f32_u16(vzip1q_u16(zero, second));
    to[3] = vreinterpretq_f32_u16(vzip2q_u16(zero, second));
}

static inline void mx_decode(const uint8_t *w, vf *low, vf *high) {
    for (int block = 0; block < 2; block++) {
        uint8x16_t bytes = vld1q_u8(w + 16 * block);
        mx_decode_nibbles(vandq_u8(bytes, vdupq_n_u8(15)), low + 4 * block);
        mx_decode_nibbles(vshrq_n_u8(bytes, 4), high + 4 * block);
    }
}

static inline void mx_widen_scales(float *to, const uint8_t *scales, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = scales[i] ? (uint32_t)scales[i] << 23 : 0x00400000;
        __builtin_memcpy(to + i, &bits, sizeof bits);
    }
}

static inline vf mx_scale(const float *pair, int v) {
    return vf_set(pair[v / 4]);
}

static inline float mx_halve(const vf *sum) {
    vf u[4];
    for (int v = 0; v < 4; v++)
        u[v] = vaddq_f32(sum[v], sum[v + 4]);
    return v_halve(vaddq_f32(vaddq_f32(u[0], u[2]), vaddq_f32(u[1], u[3])));
}

#define TILE_R 1    /* rows at once with one row of x */
#define TILE_T_MX 2 /* most rows of x whose MXFP4 sums fit the registers */
#define STEP_R_64 4
#include "matmul_kernels.inc"

const struct df_matmul df_matmul_neon = {arrange, multiply};
