/*
 * Yardsticks for the kernel benchmark, in a library of their own (libdeltafin_bench): a pass that only reads, and an
 * MXFP4 product of the plain design that public CPU engines use. Neither is part of the engine.
 */
#ifndef DELTAFIN_BENCH_H
#define DELTAFIN_BENCH_H

#include <stdint.h>

#define DF_BENCH_API __attribute__((visibility("default")))

/* Reads every byte once with `threads` threads (1 to 256), each a contiguous share, and returns a sum over them. */
DF_BENCH_API uint64_t df_bench_read(const void *from, uint64_t bytes, int32_t threads);

/* y[m][r] = <row r of matrix m, x> for `matrices` MXFP4 matrices [rows, cols] that lie back to back (packed bytes in w,
 * e8m0 scales in scales), rows shared out to the threads. The plain design: an eight-entry table shuffled by each
 * nibble, the sign moved in by shift and xor, each weight multiplied by its scale, eight sums a register. AVX2 where
 * the CPU has it, else portable C. Its order of addition is its own, so its results are only close to those of
 * df_matmul. */
DF_BENCH_API void df_bench_plain_mxfp4(float *y, const uint8_t *w, const uint8_t *scales, const float *x,
                                       int64_t matrices, int64_t rows, int64_t cols, int32_t threads);

#endif
