/*
 * The persistent worker pool: one job at a time, its blocks taken from a shared counter by the caller and by whichever
 * workers are awake. A worker that wakes late finds the job closed and goes back to waiting, so a job never waits for a
 * thread the system has not scheduled, only for blocks already begun.
 *
 * `state` holds all that threads must agree on in one word: generation (high 32 bits), OPEN, and how many workers are
 * inside the job. The caller writes the job, opens it, works, closes it when the counter has run out, and waits for
 * `inside` to reach zero; only then may the job's fields be written again.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif
#include "internal.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#define OPEN (UINT64_C(1) << 31)
#define INSIDE (OPEN - 1)
#define GENERATION (UINT64_C(1) << 32)

/* How long an idle thread looks before it sleeps: longer than the gap between two calls of one token, far shorter than
 * the gap between two tokens' worth of other work. */
#define SPIN_NANOSECONDS 40000

struct worker {
    df_pool *pool;
    pthread_t thread;
    int32_t index;
};

struct df_pool {
    _Alignas(64) _Atomic uint64_t state;
    _Alignas(64) _Atomic int64_t next; /* first item nobody has taken */
    _Alignas(64) df_task task;
    void *ctx;
    int64_t items, grain;
    int32_t spin_nanoseconds;
    _Atomic bool stop;
    _Atomic int32_t sleepers;
    _Atomic bool caller_sleeps;
    pthread_mutex_t callers; /* one job at a time when several queues share the device */
    pthread_mutex_t lock;
    pthread_cond_t opened, left;
    int32_t workers;
    struct worker worker[];
};

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_blocks(df_pool *pool, int32_t thread) {
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&pool->next, pool->grain, memory_order_relaxed);
        if (begin >= pool->items) return;
        pool->task(pool->ctx, begin, df_min(begin + pool->grain, pool->items), thread);
    }
}

static bool is_new(const df_pool *pool, uint64_t state, uint64_t seen) {
    return ((state & OPEN) && state / GENERATION != seen) || atomic_load(&pool->stop);
}

/* Returns when a job is open that this worker has not seen, or the pool stops. */
static void await_job(df_pool *pool, uint64_t seen) {
    int64_t until = 0;
    for (int spins = 1;; spins++) {
        if (is_new(pool, atomic_load_explicit(&pool->state, memory_order_relaxed), seen)) return;
        if (!pool->spin_nanoseconds) break;
        relax();
        if (spins % 64) continue;
        int64_t now = now_nanoseconds();
        if (!until) until = now + pool->spin_nanoseconds;
        if (now > until) break;
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!is_new(pool, atomic_load(&pool->state), seen))
        pthread_cond_wait(&pool->opened, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void leave(df_pool *pool) {
    uint64_t before = atomic_fetch_sub(&pool->state, 1);
    if ((before & INSIDE) != 1 || (before & OPEN) || !atomic_load(&pool->caller_sleeps)) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *arg) {
    struct worker *self = arg;
    df_pool *pool = self->pool;
    uint64_t seen = 0;
    while (!atomic_load(&pool->stop)) {
        uint64_t state = atomic_load(&pool->state);
        if (!is_new(pool, state, seen)) {
            await_job(pool, seen);
            continue;
        }
        if (!(state & OPEN) || !atomic_compare_exchange_weak(&pool->state, &state, state + 1)) continue;
        seen = state / GENERATION;
        take_blocks(pool, self->index);
        leave(pool);
    }
    return NULL;
}

static void wake_workers(df_pool *pool, int64_t wanted) {
    int32_t sleepers = atomic_load(&pool->sleepers);
    if (!sleepers) return;
    pthread_mutex_lock(&pool->lock);
    if (wanted >= sleepers)
        pthread_cond_broadcast(&pool->opened);
    else
        for (int64_t i = 0; i < wanted; i++)
            pthread_cond_signal(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
}

static void await_workers(df_pool *pool) {
    int64_t until = 0;
    for (int spins = 1; atomic_load(&pool->state) & INSIDE; spins++) {
        relax();
        if (pool->spin_nanoseconds && spins % 64) continue;
        int64_t now = now_nanoseconds();
        if (!until) until = now + pool->spin_nanoseconds;
        if (now < until) continue;
        pthread_mutex_lock(&pool->lock);
        atomic_store(&pool->caller_sleeps, true);
        while (atomic_load(&pool->state) & INSIDE)
            pthread_cond_wait(&pool->left, &pool->lock);
        atomic_store(&pool->caller_sleeps, false);
        pthread_mutex_unlock(&pool->lock);
    }
}

void df_parallel(df_queue *q, int64_t items, int64_t grain, df_task task, void *ctx) {
    df_pool *pool = q->device->pool;
    if (items <= 0) return;
    if (grain < 1) grain = 1;
    if (!pool || items <= grain) {
        for (int64_t begin = 0; begin < items; begin += grain)
            task(ctx, begin, df_min(begin + grain, items), 0);
        return;
    }
    pthread_mutex_lock(&pool->callers);
    pool->task = task;
    pool->ctx = ctx;
    pool->items = items;
    pool->grain = grain;
    atomic_store(&pool->next, 0);
    uint64_t generation = (atomic_load(&pool->state) / GENERATION + 1) & UINT32_MAX;
    if (!generation) generation = 1; /* 0 is what a worker that has seen nothing remembers */
    atomic_store(&pool->state, generation * GENERATION | OPEN);
    wake_workers(pool, df_ceil_div(items, grain) - 1);
    take_blocks(pool, 0);
    atomic_fetch_and(&pool->state, ~OPEN);
    await_workers(pool);
    pthread_mutex_unlock(&pool->callers);
}

df_pool *df_pool_open(int32_t threads) {
    int32_t workers = threads - 1;
    size_t bytes = (sizeof(df_pool) + (size_t)workers * sizeof(struct worker) + 63) & ~(size_t)63;
    df_pool *pool = aligned_alloc(64, bytes);
    if (!pool) return NULL;
    memset(pool, 0, bytes);
    pool->spin_nanoseconds = threads <= df_pool_cores() ? SPIN_NANOSECONDS : 0;
    pthread_mutex_init(&pool->callers, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->left, NULL);
    for (int32_t i = 0; i < workers; i++) {
        struct worker *w = &pool->worker[i];
        w->pool = pool;
        w->index = i + 1;
        if (pthread_create(&w->thread, NULL, work, w)) {
            df_pool_close(pool);
            return NULL;
        }
        pool->workers++;
    }
    return pool;
}

void df_pool_close(df_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (int32_t i = 0; i < pool->workers; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->opened);
    pthread_cond_destroy(&pool->left);
    pthread_mutex_destroy(&pool->callers);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- how many threads ----------------------------------------------------------------------------------------------
 */

#if defined(__linux__)

static bool read_line(const char *path, char *line, int size) {
    FILE *f = fopen(path, "re");
    if (!f) return false;
    bool ok = fgets(line, size, f) != NULL;
    fclose(f);
    return ok;
}

/* CPUs' worth of time the cgroup grants, rounded up, or INT32_MAX where there is no quota. */
static int64_t quota_cpus(void) {
    char line[128];
    long long quota = -1, period = 0;
    if (read_line("/sys/fs/cgroup/cpu.max", line, sizeof line)) {
        if (sscanf(line, "%lld %lld", &quota, &period) != 2) quota = -1; /* "max" */
    } else if (read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line)) {
        quota = atoll(line);
        period = read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", line, sizeof line) ? atoll(line) : 0;
    }
    return quota > 0 && period > 0 ? df_max(1, df_ceil_div(quota, period)) : INT32_MAX;
}

/* Counts a core once: by the lowest of its hyper-threads that the affinity mask allows. */
static int64_t affinity_cores(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return df_max(1, sysconf(_SC_NPROCESSORS_ONLN));
    int64_t cores = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        char path[96], line[128];
        int sibling = cpu;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        bool first = true;
        if (read_line(path, line, sizeof line))
            for (char *p = line; first && sscanf(p, "%d", &sibling) == 1 && sibling < cpu;) {
                if (CPU_ISSET(sibling, &allowed)) first = false;
                p += strcspn(p, ",-");
                if (*p) p++;
            }
        cores += first;
    }
    return df_max(1, cores);
}

int32_t df_pool_cores(void) {
    return (int32_t)df_min(affinity_cores(), quota_cpus());
}

#else

int32_t df_pool_cores(void) {
#if defined(__APPLE__)
    int32_t cores = 0; /* performance cores where there are two kinds */
    size_t size = sizeof cores;
    if (!sysctlbyname("hw.perflevel0.physicalcpu", &cores, &size, NULL, 0) && cores > 0) return cores;
    size = sizeof cores;
    if (!sysctlbyname("hw.physicalcpu", &cores, &size, NULL, 0) && cores > 0) return cores;
#endif
    return (int32_t)df_max(1, sysconf(_SC_NPROCESSORS_ONLN));
}

#endif
