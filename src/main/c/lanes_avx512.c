/* The lane kernels for AVX512. */
#define DF_LANES_AVX512
#define DF_LANE_TABLE(family) family##_avx512
#include "lanes_kernels.inc"
