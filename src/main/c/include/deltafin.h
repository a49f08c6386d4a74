/*
 * Deltafin kernel ABI: everything the engine asks of a compute provider (CPU, CUDA, Metal).
 *
 * A provider is one shared library that exports every function below. The forward pass lives in Java; a kernel
 * never knows what a layer is. All tensors are row-major; strides are counted in elements unless a name ends in
 * _bytes. Activations and state are IEEE fp32.
 *
 * Arithmetic contract. Every output element is accumulated in one order that depends only on the weight format and
 * the column count, never on the number of rows T, the thread count, the instruction set or the device. So a call
 * with T rows equals T calls with one row bit for bit. docs/arithmetic.md writes the orders down; df_math.h has the
 * transcendental functions. Division and square root are correctly rounded; subnormals are kept.
 *
 * Work is queued in order on a df_queue. The CPU provider runs each call before it returns; a GPU provider may
 * return early, so results may be looked at by the host only after df_queue_wait. Argument records and host arrays
 * passed to a call may be reused as soon as the call returns. A queue is used by one thread at a time.
 *
 * Every int32_t-returning function returns DF_OK or a negative df_status; df_queue_error / df_last_error tell more.
 */
#ifndef DELTAFIN_H
#define DELTAFIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DF_ABI_VERSION 1
#define DF_API __attribute__((visibility("default")))

/* Opaque address in a device's memory. Only addresses of DF_MEM_HOST_VISIBLE memory may be dereferenced by the host. */
typedef uint64_t df_addr;
typedef struct df_device df_device;
typedef struct df_queue df_queue;

enum df_status { DF_OK = 0, DF_E_ARGUMENT = -1, DF_E_MEMORY = -2, DF_E_DEVICE = -3, DF_E_UNSUPPORTED = -4 };

/* How a matrix is stored. DF_MXFP4: packed bytes [rows, cols/2] (low nibble = even column), scales [rows, cols/32] e8m0. */
enum df_format { DF_BF16 = 1, DF_F32 = 2, DF_MXFP4 = 3 };

enum df_memory { DF_MEM_DEVICE = 0, DF_MEM_HOST_VISIBLE = 1 };

/* Instruction sets of the CPU provider, in rising order of preference; DF_ISA_BEST picks the best this CPU has. */
enum df_isa { DF_ISA_BEST = 0, DF_ISA_SCALAR = 1, DF_ISA_AVX2 = 2, DF_ISA_AVX512 = 3, DF_ISA_NEON = 4 };

/* DF_ACT_SITU: b1*tanh(g/b1)*sig(g) * b2*tanh(u/b2); b2 = 0 leaves u uncapped. DF_ACT_SILU: g*sig(g)*u. */
enum df_activation { DF_ACT_SITU = 1, DF_ACT_SILU = 2 };

enum df_router { DF_ROUTER_SIGMOID = 1, DF_ROUTER_SOFTMAX = 2 };

/* ---- device, memory, queue ------------------------------------------------------------------------------------- */

typedef struct {
    int32_t threads; /* compute threads, the calling thread included; 0 = all physical cores this process may use */
    int32_t isa;     /* enum df_isa; one this CPU lacks is refused with DF_E_UNSUPPORTED */
    int32_t ordinal; /* which device of the provider's kind, from 0 */
    int32_t reserved;
} df_device_options;

typedef struct {
    char name[128]; /* processor or card, for people */
    char isa[32];   /* instruction set or architecture in use, for example "avx512" */
    int32_t threads;
    int32_t unified;       /* 1: the device computes on host memory in place (df_import copies nothing) */
    uint64_t memory_bytes; /* of the device, or 0 where it is host memory */
} df_device_info;

DF_API int32_t df_abi_version(void);
/* Opens a device. On failure *out is NULL and df_last_error() says why (this thread's last failure). */
DF_API int32_t df_device_open(const df_device_options *options, df_device **out);
DF_API void df_device_close(df_device *device);
DF_API int32_t df_device_describe(const df_device *device, df_device_info *out);
DF_API const char *df_last_error(void);

/* Memory that reads as zero, aligned to at least 64 bytes (2 MiB and huge pages where it is large). */
DF_API int32_t df_alloc(df_device *device, uint64_t bytes, int32_t memory, df_addr *out);
DF_API int32_t df_free(df_device *device, df_addr address);
/* Makes host bytes (a file mapping, an expert slot) readable by kernels. Unified devices return the same address and
 * the bytes must stay valid until df_release; others copy. Any alignment. */
DF_API int32_t df_import(df_device *device, const void *host, uint64_t bytes, df_addr *out);
DF_API int32_t df_release(df_device *device, df_addr address);

DF_API int32_t df_queue_open(df_device *device, df_queue **out);
DF_API void df_queue_close(df_queue *queue);
/* Waits until all queued work is done; returns the first failure since the last wait. */
DF_API int32_t df_queue_wait(df_queue *queue);
DF_API const char *df_queue_error(const df_queue *queue);
DF_API int32_t df_write(df_queue *queue, df_addr to, const void *from, uint64_t bytes);
/* Copies to host memory and waits for it. */
DF_API int32_t df_read(df_queue *queue, void *to, df_addr from, uint64_t bytes);

/* ---- matrices --------------------------------------------------------------------------------------------------- */

/* y[t][r] = sum_c w[r][c] * x[t][c]. w may have any alignment; x and y are fp32 with the given row strides. */
typedef struct {
    df_addr w;
    df_addr scales; /* DF_MXFP4 only */
    df_addr x;
    df_addr y;
    int64_t rows, cols;
    int64_t x_stride, y_stride;
    int32_t format; /* enum df_format */
    int32_t reserved;
} df_matmul_op;

/* Runs n independent products over the same T >= 1 rows as one piece of work. No y may overlap an x or another y. */
DF_API int32_t df_matmul(df_queue *queue, const df_matmul_op *ops, int32_t n, int32_t T);

/* One routed expert and the rows that chose it. w1 gate [F,Z], w3 up [F,Z], w2 down [Z,F]. */
typedef struct {
    df_addr w1, w1_scales, w2, w2_scales, w3, w3_scales;
    const int32_t *pairs; /* host array [count]: pair = row * k + slot, rows ascending */
    int32_t count;        /* how many pairs, >= 1; a row chooses an expert at most once */
    int32_t format;       /* enum df_format of all three matrices */
} df_expert_op;

typedef struct {
    df_addr x;       /* [T][Z] latent rows */
    df_addr hidden;  /* scratch [T*k][F] */
    df_addr results; /* [T*k][Z]; row pair receives w2 * act(w1 x, w3 x) */
    int64_t Z, F;
    int32_t k;
    int32_t activation; /* enum df_activation */
    float b1, b2;
} df_expert_shape;

/* Runs n experts; each result row is written once. Calls may come in any split and order: results are separate. */
DF_API int32_t df_experts(df_queue *queue, const df_expert_shape *shape, const df_expert_op *ops, int32_t n);
/* out[t][z] = sum over slots s = 0..k-1 ascending of weights[t][s] * results[t*k+s][z] (first a product, then fma). */
DF_API int32_t df_expert_sum(df_queue *queue, df_addr out, df_addr results, df_addr weights, int64_t Z, int32_t k,
                             int32_t T);

/* ---- rows and vectors ------------------------------------------------------------------------------------------- */

/* out[t][:] = widened row ids[t] of a BF16 or F32 table [vocab][H]; ids is a host array, checked against vocab. */
DF_API int32_t df_embed(df_queue *queue, df_addr out, df_addr table, int32_t format, const int32_t *ids, int64_t vocab,
                        int64_t H, int32_t T);
/* dst row t = src row t, `bytes` each (memmove when the ranges overlap). */
DF_API int32_t df_copy_rows(df_queue *queue, df_addr dst, int64_t dst_stride_bytes, df_addr src,
                            int64_t src_stride_bytes, int64_t bytes, int32_t T);
/* y[i] += x[i] */
DF_API int32_t df_add(df_queue *queue, df_addr y, df_addr x, int64_t n);
/* y[i] = exp(x[i]) / y[i] = sig(x[i]) / y[i] = x[i] * sig(g[i]); y may be x or g. */
DF_API int32_t df_exp(df_queue *queue, df_addr y, df_addr x, int64_t n);
DF_API int32_t df_sigmoid(df_queue *queue, df_addr y, df_addr x, int64_t n);
DF_API int32_t df_gate(df_queue *queue, df_addr y, df_addr x, df_addr g, int64_t n);
/* y[i] = activation(g[i], u[i]); y may be g or u. k3-model.md 3.8 */
DF_API int32_t df_activate(df_queue *queue, df_addr y, df_addr g, df_addr u, int64_t n, int32_t activation, float b1,
                           float b2);
/* y[t] = w * (x[t] / sqrt(mean(x[t]^2) + eps)), n columns; w fp32; y may be x. k3-model.md 3.3 */
DF_API int32_t df_rms(df_queue *queue, df_addr y, int64_t y_stride, df_addr x, int64_t x_stride, df_addr w, int64_t n,
                      int32_t T, float eps);
/* Block attention residual: softmax over n sources of <source_i / rms, fold>, mixed raw sources. Source i of row t is
 * sources + i*source_stride + t*row_stride. k3-model.md 3.2 */
DF_API int32_t df_mix(df_queue *queue, df_addr y, int64_t y_stride, df_addr sources, int64_t source_stride,
                      int64_t row_stride, int32_t n, df_addr fold, int64_t H, int32_t T, float eps);
/* out[t] = smallest index of the largest of x[t][0..n); NaN never wins. out: int32 [T]. */
DF_API int32_t df_argmax(df_queue *queue, df_addr out, df_addr x, int64_t x_stride, int64_t n, int32_t T);

/* ---- router ------------------------------------------------------------------------------------------------------ */

typedef struct {
    int32_t experts, k;
    int32_t router;             /* enum df_router */
    int32_t groups, topk_group; /* limiting is active only if groups > 1 and groups > topk_group */
    int32_t renormalize;
    float scale;
    int32_t reserved;
} df_route_shape;

/* Scores, selection by biased score (descending, ties to the lower id), unbiased weights. ids int32 [T][k], weights
 * fp32 [T][k], both host-visible; logits [T][experts]; bias fp32 [experts] or 0. k3-model.md 3.9 */
DF_API int32_t df_route(df_queue *queue, const df_route_shape *shape, df_addr ids, df_addr weights, df_addr logits,
                        df_addr bias, int32_t T);

/* ---- KDA --------------------------------------------------------------------------------------------------------- */

/* y[t][c] = silu(sum_{i<W} w[c][i] * x[t-(W-1)+i][c]), i ascending. x points at row 0; the W-1 rows before it (same
 * stride) are the window of earlier tokens. w fp32 [C][W]. y may not overlap x. k3-model.md 3.5.2 */
DF_API int32_t df_short_conv(df_queue *queue, df_addr y, int64_t y_stride, df_addr x, int64_t x_stride, df_addr w,
                             int64_t C, int32_t W, int32_t T);
/* Per head of D: y = scale * x / sqrt(sum x^2 + 1e-6) (division first, then scale; scale 1 changes nothing). 3.5.3 */
DF_API int32_t df_l2norm(df_queue *queue, df_addr y, df_addr x, int64_t heads, int64_t D, int32_t T, float scale);
/* alpha[t][n*D+d] = exp(lower_bound * sig(a[n] * (z + dt_bias))), or with lower_bound >= 0 (no bound)
 * exp(-a[n] * softplus(z + dt_bias)). a fp32 [heads] = exp(A_log), one a head. 3.5.4 */
DF_API int32_t df_decay(df_queue *queue, df_addr alpha, df_addr z, df_addr dt_bias, df_addr a, int64_t heads, int64_t D,
                        int32_t T, float lower_bound);

typedef struct {
    df_addr state;            /* fp32 [heads][D key][D value] */
    df_addr q, k, v, alpha;   /* fp32 [T][heads*D]; q and k normalised */
    df_addr beta;             /* fp32 [T][heads] */
    df_addr out;              /* fp32 [T][heads*D]; rows before out_from are not written */
    int64_t heads, D;
    int32_t T;
    int32_t keep;     /* the state is written as it stands after this many rows (0: left alone, T: after all) */
    int32_t out_from; /* first row whose output is wanted; rows before it only fold into the state (q unread) */
    int32_t reserved;
} df_kda_op;

/* The delta-rule recurrence, row by row: S = alpha S; m = k S; d = beta (v - m); S += k d; o = q S. 3.5.6 */
DF_API int32_t df_kda(df_queue *queue, const df_kda_op *op);
/* y[t][n*D+d] = (o / sqrt(mean_head(o^2) + eps) * w[d]) * sig(g); y may be o or g. 3.5.7 */
DF_API int32_t df_head_rms_gate(df_queue *queue, df_addr y, df_addr o, df_addr w, df_addr g, int64_t heads, int64_t D,
                                int32_t T, float eps);

/* ---- MLA, absorbed form -------------------------------------------------------------------------------------------- */

typedef struct {
    df_addr kv_b;   /* matrix [heads*(dn+dv)][Rc], per head dn key rows then dv value rows */
    int32_t format; /* DF_BF16 or DF_F32 */
    int32_t heads;
    int64_t dn, dr, dv, Rc;
} df_mla_shape;

/* out[t][n] = [ K_n^T q[t][n][0..dn) | q[t][n][dn..dn+dr) ], rows of Rc+dr; q [T][heads][dn+dr]; d ascending. */
DF_API int32_t df_mla_absorb(df_queue *queue, const df_mla_shape *shape, df_addr out, df_addr q, int32_t T);
/* Causal attention of T rows over the latent cache. pages: host array of page addresses; a page holds page_positions
 * (a multiple of 64) rows of Rc+dr floats [latent | extra key]. Row t sees positions 0..base+t. q, out as above with
 * out [T][heads][Rc] = softmax(scale * <q, row>) weighted latents, over fixed tiles of 64 positions, ascending. */
DF_API int32_t df_mla_attend(df_queue *queue, const df_mla_shape *shape, df_addr out, df_addr q, const df_addr *pages,
                             int64_t page_positions, int64_t base, int32_t T, float scale);
/* out[t][n*dv+j] = <V_n[j], mixed[t][n]>, in the order of df_matmul for this format. */
DF_API int32_t df_mla_expand(df_queue *queue, const df_mla_shape *shape, df_addr out, df_addr mixed, int32_t T);

#ifdef __cplusplus
}
#endif
#endif
