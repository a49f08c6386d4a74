/* The order of every matrix product, in plain C: what all other tiers must equal bit for bit. */
#include "matmul.h"

static void arrange(int32_t format, float *to, const float *x, int64_t cols) {
    (void)format;
    memcpy(to, x, (size_t)cols * sizeof *x);
}

static float dot_64(int32_t format, const uint8_t *w, const float *x, int64_t cols) {
    float u[DF_GROUP] = {0};
    df_tail_64(format, u, w, x, 0, cols);
    return df_halve(u, DF_GROUP);
}

static float dot_mxfp4(const uint8_t *w, const uint8_t *scales, const float *x, int64_t cols) {
    float u[DF_MX_BLOCK] = {0};
    for (int64_t b = 0; b < cols / DF_MX_BLOCK; b++)
        df_block_mxfp4(u + 16 * (b % 2), w + 16 * b, df_scale_e8m0(scales[b]), x + DF_MX_BLOCK * b);
    return df_halve(u, DF_MX_BLOCK);
}

static void multiply(const struct df_rows *rows) {
    for (int64_t r = rows->begin; r < rows->end; r++) {
        const uint8_t *w = rows->w + r * df_row_bytes(rows->format, rows->cols);
        for (int32_t t = 0; t < rows->T; t++)
            rows->y[t][r - rows->y_first] =
                rows->format == DF_MXFP4
                    ? dot_mxfp4(w, rows->scales + r * (rows->cols / DF_MX_BLOCK), rows->x[t], rows->cols)
                    : dot_64(rows->format, w, rows->x[t], rows->cols);
    }
}

const struct df_matmul DF_SCALAR_TABLE(df_matmul) = {arrange, multiply};
