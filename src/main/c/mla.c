/*
 * Multi-head latent attention in the absorbed form: checks and the split over threads. k3-model.md 3.6
 *
 * A query is one head of one row; a block is the few queries that mla_kernels.inc handles at once. Every query walks
 * its tiles of 64 positions in ascending order: running maximum m, running sum l, mixed latents in `out`. What differs
 * below is only who does which part when: either a thread walks a whole block, or, where blocks are too few for the
 * threads, a segment of tiles is scored together and its columns blended together. No sum ever crosses two threads.
 */
#include "kernels.h"

#include <math.h>
#include <string.h>

#define SMALL_WORK (INT64_C(1) << 18) /* multiplications that are not worth waking a second thread for */
#define BLEND_LANES 4
#define BLEND_COLUMNS 128
#define SEGMENT_TILES 16

/* ---- absorb --------------------------------------------------------------------------------------------------------
 */

static int32_t check_shape(df_queue *q, const char *name, const df_mla_shape *s, df_addr out, df_addr in, int32_t T) {
    DF_REQUIRE(q, q, "%s: queue is null", name);
    DF_REQUIRE(q, s && out && in, "%s: null address", name);
    DF_REQUIRE(q, s->heads > 0 && s->dn > 0 && s->dr >= 0 && s->dv > 0 && s->Rc > 0 && T > 0,
               "%s: heads %d, dn %lld, dr %lld, dv %lld, Rc %lld, T %d", name, s->heads, (long long)s->dn,
               (long long)s->dr, (long long)s->dv, (long long)s->Rc, T);
    return DF_OK;
}

struct absorb {
    const df_mla_shape *shape;
    const struct df_mla *kernels;
    float *out;
    const float *q;
    int32_t T;
    int64_t pieces; /* a head's Rc columns are split in pieces of ABSORB_COLUMNS */
};

#define ABSORB_COLUMNS 512

static void absorb_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct absorb *a = ctx;
    const df_mla_shape *s = a->shape;
    int64_t dq = s->dn + s->dr, n = s->Rc + s->dr, q_stride = s->heads * dq, out_stride = s->heads * n;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t head = i / a->pieces, c = i % a->pieces * ABSORB_COLUMNS;
        const float *q = a->q + head * dq;
        float *out = a->out + head * n;
        int64_t row = head * (s->dn + s->dv);
        const void *k = df_bytes(s->kv_b) + row * s->Rc * (s->format == DF_BF16 ? 2 : 4);
        a->kernels->absorb(out, out_stride, k, s->format, q, q_stride, s->dn, s->Rc, c,
                           df_min(s->Rc, c + ABSORB_COLUMNS), a->T);
        for (int32_t t = 0; c == 0 && t < a->T; t++)
            memcpy(out + t * out_stride + s->Rc, q + t * q_stride + s->dn, (size_t)s->dr * sizeof *out);
    }
}

int32_t df_mla_absorb(df_queue *q, const df_mla_shape *s, df_addr out, df_addr query, int32_t T) {
    int32_t status = check_shape(q, "df_mla_absorb", s, out, query, T);
    if (status) return status;
    DF_REQUIRE(q, s->format == DF_BF16 || s->format == DF_F32,
               "df_mla_absorb: kv_b of format %d; BF16 and F32 are possible", s->format);
    DF_REQUIRE(q, s->kv_b, "df_mla_absorb: null address of kv_b");
    struct absorb a = {s, DF_PICK(q->device, df_mla),        df_f32(out), df_f32(query),
                       T, df_ceil_div(s->Rc, ABSORB_COLUMNS)};
    int64_t work = s->dn * df_min(s->Rc, ABSORB_COLUMNS) * T;
    df_parallel(q, s->heads * a.pieces, df_max(1, SMALL_WORK / work), absorb_task, &a);
    return DF_OK;
}

/* ---- attend --------------------------------------------------------------------------------------------------------
 */

struct attend {
    const struct df_mla *kernels;
    const struct df_vector *vector;
    float *out;
    const float *q;
    const df_addr *pages;
    int64_t page_positions, base;
    int64_t heads, queries, lanes, blocks; /* queries = T * heads */
    int64_t Rc, n;                         /* n = Rc + dr: a row of the cache and a query */
    float scale;
    float *scratch;
    /* The segment of tiles being worked on together; a thread that walks a block has segments of one tile. */
    int64_t first_tile, tiles;
};

/* The scratch of one block: its state, then per tile of the segment scores, maximum, sum and keep. */
struct block {
    float *packed, *m, *l;
    float *tiles;
};

static int64_t tile_floats(const struct attend *a) {
    return (DF_MLA_TILE + 3) * a->lanes;
}

static int64_t block_floats(const struct attend *a) {
    return (a->n + 2) * a->lanes + a->tiles * tile_floats(a);
}

static struct block block_at(const struct attend *a, int64_t index) {
    float *p = a->scratch + index * block_floats(a);
    return (struct block){p, p + a->n * a->lanes, p + (a->n + 1) * a->lanes, p + (a->n + 2) * a->lanes};
}

static float *tile_at(const struct attend *a, const struct block *b, int64_t tile) {
    return b->tiles + (tile - a->first_tile) * tile_floats(a);
}

static int64_t block_queries(const struct attend *a, int64_t block) {
    return df_min(a->lanes, a->queries - block * a->lanes);
}

/* Positions that a query sees: those up to its own row's. */
static int64_t horizon(const struct attend *a, int64_t query) {
    return a->base + query / a->heads + 1;
}

static int64_t last_tile(const struct attend *a, int64_t block) {
    return df_ceil_div(horizon(a, block * a->lanes + block_queries(a, block) - 1), DF_MLA_TILE);
}

/* How many positions of the tile each query of a block sees; never falling, for rows ascend. */
static void count_seen(const struct attend *a, int64_t block, int64_t tile, int32_t *seen) {
    int64_t count = block_queries(a, block);
    for (int64_t l = 0; l < a->lanes; l++) {
        int64_t left = l < count ? horizon(a, block * a->lanes + l) - tile * DF_MLA_TILE : 0;
        seen[l] = (int32_t)df_max(0, df_min(DF_MLA_TILE, left));
    }
}

static const float *tile_rows(const struct attend *a, int64_t tile) {
    int64_t position = tile * DF_MLA_TILE;
    return df_f32(a->pages[position / a->page_positions]) + position % a->page_positions * a->n;
}

static void open_block(const struct attend *a, int64_t block, const struct block *b) {
    int64_t first = block * a->lanes, count = block_queries(a, block);
    a->kernels->pack(b->packed, a->q + first * a->n, count, a->n);
    for (int64_t l = 0; l < a->lanes; l++) {
        b->m[l] = -INFINITY;
        b->l[l] = 0;
    }
    memset(a->out + first * a->Rc, 0, (size_t)(count * a->Rc) * sizeof *a->out);
}

static void score_tile(const struct attend *a, int64_t block, const struct block *b, int64_t tile) {
    int32_t seen[DF_MLA_MAX_LANES];
    float *scores = tile_at(a, b, tile), *max = scores + DF_MLA_TILE * a->lanes;
    count_seen(a, block, tile, seen);
    a->kernels->score(scores, tile_rows(a, tile), seen[block_queries(a, block) - 1], b->packed, a->n, a->scale);
    a->kernels->peak(max, scores, seen);
}

/* Moves the running maximum over a tile: its `max` becomes the maximum so far, `keep` = exp(old - new). */
static void raise_maximum(const struct attend *a, const struct block *b, int64_t tile) {
    float *max = tile_at(a, b, tile) + DF_MLA_TILE * a->lanes, *keep = max + 2 * a->lanes;
    for (int64_t l = 0; l < a->lanes; l++) {
        max[l] = max[l] > b->m[l] ? max[l] : b->m[l];
        keep[l] = b->m[l] - max[l];
        b->m[l] = max[l];
    }
    a->vector->exp(keep, keep, a->lanes);
}

static void soften_tile(const struct attend *a, const struct block *b, int64_t tile) {
    float *scores = tile_at(a, b, tile), *max = scores + DF_MLA_TILE * a->lanes;
    a->kernels->soften(max + a->lanes, scores, max);
}

static void add_sum(const struct attend *a, const struct block *b, int64_t tile) {
    const float *sum = tile_at(a, b, tile) + (DF_MLA_TILE + 1) * a->lanes, *keep = sum + a->lanes;
    for (int64_t l = 0; l < a->lanes; l++)
        b->l[l] = __builtin_fmaf(b->l[l], keep[l], sum[l]);
}

/* Queries [first, first + count) of the block, columns [begin, end). */
static void blend_tile(const struct attend *a, int64_t block, const struct block *b, int64_t tile, int64_t first,
                       int64_t count, int64_t begin, int64_t end) {
    int32_t seen[DF_MLA_MAX_LANES];
    const float *p = tile_at(a, b, tile), *keep = p + (DF_MLA_TILE + 2) * a->lanes;
    count_seen(a, block, tile, seen);
    a->kernels->blend(a->out + (block * a->lanes + first) * a->Rc, a->Rc, keep + first, p + first, tile_rows(a, tile),
                      a->n, seen + first, count, begin, end);
}

static void close_block(const struct attend *a, int64_t block, const struct block *b) {
    for (int64_t l = 0; l < block_queries(a, block); l++) {
        float *out = a->out + (block * a->lanes + l) * a->Rc;
        for (int64_t c = 0; c < a->Rc; c++)
            out[c] /= b->l[l];
    }
}

/* A thread walks whole blocks. */
static void walk_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    struct attend a = *(const struct attend *)ctx;
    for (int64_t block = begin; block < end; block++) {
        struct block b = block_at(&a, thread);
        open_block(&a, block, &b);
        int64_t tiles = last_tile(&a, block);
        for (a.first_tile = 0; a.first_tile < tiles; a.first_tile++) {
            score_tile(&a, block, &b, a.first_tile);
            raise_maximum(&a, &b, a.first_tile);
            soften_tile(&a, &b, a.first_tile);
            add_sum(&a, &b, a.first_tile);
            blend_tile(&a, block, &b, a.first_tile, 0, block_queries(&a, block), 0, a.Rc);
        }
        close_block(&a, block, &b);
    }
}

/* ---- a segment of tiles together; items are tiles, or pieces of the output, of all blocks -------------------------
 */

static int in_segment(const struct attend *a, int64_t block, int64_t tile) {
    return tile < last_tile(a, block);
}

static void open_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct attend *a = ctx;
    (void)thread;
    for (int64_t block = begin; block < end; block++) {
        struct block b = block_at(a, block);
        open_block(a, block, &b);
    }
}

static void score_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct attend *a = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i % a->blocks, tile = a->first_tile + i / a->blocks;
        struct block b = block_at(a, block);
        if (in_segment(a, block, tile)) score_tile(a, block, &b, tile);
    }
}

static void soften_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct attend *a = ctx;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i % a->blocks, tile = a->first_tile + i / a->blocks;
        struct block b = block_at(a, block);
        if (in_segment(a, block, tile)) soften_tile(a, &b, tile);
    }
}

static void blend_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct attend *a = ctx;
    int64_t groups = df_ceil_div(a->lanes, BLEND_LANES), pieces = df_ceil_div(a->Rc, BLEND_COLUMNS);
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        int64_t block = i / (groups * pieces), first = i / pieces % groups * BLEND_LANES;
        int64_t c = i % pieces * BLEND_COLUMNS, count = df_min(BLEND_LANES, block_queries(a, block) - first);
        struct block b = block_at(a, block);
        for (int64_t s = 0; count > 0 && s < a->tiles; s++)
            if (in_segment(a, block, a->first_tile + s))
                blend_tile(a, block, &b, a->first_tile + s, first, count, c, df_min(a->Rc, c + BLEND_COLUMNS));
    }
}

static void close_task(void *ctx, int64_t begin, int64_t end, int32_t thread) {
    const struct attend *a = ctx;
    (void)thread;
    for (int64_t block = begin; block < end; block++) {
        struct block b = block_at(a, block);
        close_block(a, block, &b);
    }
}

/* The two scans over tiles that must be done in order; short beside the parts that are shared. */
static void scan(const struct attend *a, void (*step)(const struct attend *, const struct block *, int64_t)) {
    for (int64_t block = 0; block < a->blocks; block++) {
        struct block b = block_at(a, block);
        for (int64_t s = 0; s < a->tiles; s++)
            if (in_segment(a, block, a->first_tile + s)) step(a, &b, a->first_tile + s);
    }
}

static void share_segments(df_queue *q, struct attend *a) {
    int64_t tiles = last_tile(a, a->blocks - 1);
    int64_t outputs = a->blocks * df_ceil_div(a->lanes, BLEND_LANES) * df_ceil_div(a->Rc, BLEND_COLUMNS);
    df_parallel(q, a->blocks, 1, open_task, a);
    for (a->first_tile = 0; a->first_tile < tiles; a->first_tile += a->tiles) {
        df_parallel(q, a->tiles * a->blocks, 1, score_task, a);
        scan(a, raise_maximum);
        df_parallel(q, a->tiles * a->blocks, 1, soften_task, a);
        scan(a, add_sum);
        df_parallel(q, outputs, 1, blend_task, a);
    }
    df_parallel(q, a->blocks, 1, close_task, a);
}

int32_t df_mla_attend(df_queue *q, const df_mla_shape *s, df_addr out, df_addr query, const df_addr *pages,
                      int64_t page_positions, int64_t base, int32_t T, float scale) {
    int32_t status = check_shape(q, "df_mla_attend", s, out, query, T);
    if (status) return status;
    DF_REQUIRE(q, base >= 0 && page_positions > 0 && page_positions % DF_MLA_TILE == 0,
               "df_mla_attend: base %lld, pages of %lld positions (a multiple of %d)", (long long)base,
               (long long)page_positions, DF_MLA_TILE);
    DF_REQUIRE(q, pages, "df_mla_attend: pages is null");
    for (int64_t p = 0; p * page_positions < base + T; p++)
        DF_REQUIRE(q, pages[p], "df_mla_attend: page %lld is null", (long long)p);
    struct attend a = {
        .kernels = DF_PICK(q->device, df_mla),
        .vector = DF_PICK(q->device, df_vector),
        .out = df_f32(out),
        .q = df_f32(query),
        .pages = pages,
        .page_positions = page_positions,
        .base = base,
        .heads = s->heads,
        .queries = (int64_t)T * s->heads,
        .Rc = s->Rc,
        .n = s->Rc + s->dr,
        .scale = scale,
        .tiles = 1,
    };
    a.lanes = a.kernels->lanes;
    a.blocks = df_ceil_div(a.queries, a.lanes);
    int64_t threads = q->device->threads, tiles = last_tile(&a, a.blocks - 1);
    int share = threads > 1 && a.blocks < 2 * threads && tiles >= SEGMENT_TILES;
    if (share) a.tiles = df_min(tiles, df_max(SEGMENT_TILES, df_ceil_div(4 * threads, a.blocks)));
    int64_t copies = share ? a.blocks : threads;
    a.scratch = df_scratch(q, DF_SCRATCH_VECTOR, (size_t)(copies * block_floats(&a)) * sizeof *a.scratch);
    if (!a.scratch) return DF_E_MEMORY;
    if (share) {
        share_segments(q, &a);
    } else {
        int64_t work = a.lanes * (base + T) * (a.n + a.Rc);
        df_parallel(q, a.blocks, df_max(1, SMALL_WORK / work), walk_task, &a);
    }
    return DF_OK;
}
