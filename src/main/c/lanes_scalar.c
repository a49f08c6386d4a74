/* The lane kernels in portable C, one lane at a time: the twin that every other tier must equal bit for bit. */
#include "internal.h"
#define DF_LANE_TABLE(family) DF_SCALAR_TABLE(family)
#include "lanes_kernels.inc"
