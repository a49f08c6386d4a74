/* The lane kernels for AVX2. */
#define DF_LANES_AVX2
#define DF_LANE_TABLE(family) family##_avx2
#include "lanes_kernels.inc"
