/* The lane kernels for NEON. */
#define DF_LANES_NEON
#define DF_LANE_TABLE(family) family##_neon
#include "lanes_kernels.inc"
