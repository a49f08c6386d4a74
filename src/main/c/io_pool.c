/* Reads through a pool of threads that call pread: works on every system and file. */
#include "io_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    dfio_reader base;
    pthread_mutex_t lock;
    pthread_cond_t work, finished;
    dfio_read *reads; /* ring of `capacity` waiting reads */
    dfio_done *done;  /* ring of `capacity` completions not yet returned */
    int32_t first_read, read_count, first_done, done_count, wanted;
    int32_t threads, closing;
    pthread_t thread[];
} pool;

static void *pool_run(void *argument) {
    pool *p = argument;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->read_count == 0 && !p->closing)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->closing) break;
        dfio_read read = p->reads[p->first_read];
        p->first_read = (p->first_read + 1) % p->base.capacity;
        p->read_count--;
        pthread_mutex_unlock(&p->lock);
        int64_t result = dfio_file_read(read.fd, read.address, read.length, read.offset);
        pthread_mutex_lock(&p->lock);
        p->done[(p->first_done + p->done_count) % p->base.capacity] = (dfio_done){read.tag, result};
        p->done_count++;
        if (p->wanted > 0 && p->done_count >= p->wanted) pthread_cond_signal(&p->finished);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static int pool_wait(pool *p, int64_t timeout_ns, const struct timespec *end) {
    if (timeout_ns < 0) return pthread_cond_wait(&p->finished, &p->lock);
#ifdef __APPLE__
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (int64_t)(end->tv_sec - now.tv_sec) * 1000000000 + end->tv_nsec - now.tv_nsec;
    if (left <= 0) return ETIMEDOUT;
    struct timespec relative = {left / 1000000000, left % 1000000000};
    return pthread_cond_timedwait_relative_np(&p->finished, &p->lock, &relative);
#else
    return pthread_cond_timedwait(&p->finished, &p->lock, end);
#endif
}

static int32_t pool_exchange(dfio_reader *base, const dfio_read *reads, int32_t n, int32_t wait, int64_t timeout_ns,
                             dfio_done *done, int32_t max) {
    pool *p = (pool *)base;
    struct timespec end = {0};
    if (timeout_ns >= 0) {
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += timeout_ns / 1000000000;
        end.tv_nsec += timeout_ns % 1000000000;
        if (end.tv_nsec >= 1000000000) {
            end.tv_sec++;
            end.tv_nsec -= 1000000000;
        }
    }
    pthread_mutex_lock(&p->lock);
    for (int32_t i = 0; i < n; i++) {
        p->reads[(p->first_read + p->read_count) % base->capacity] = reads[i];
        p->read_count++;
    }
    if (n == 1) pthread_cond_signal(&p->work);
    if (n > 1) pthread_cond_broadcast(&p->work);
    p->wanted = wait;
    while (p->done_count < wait && pool_wait(p, timeout_ns, &end) != ETIMEDOUT)
        continue;
    p->wanted = 0;
    int32_t count = p->done_count < max ? p->done_count : max;
    for (int32_t i = 0; i < count; i++) {
        done[i] = p->done[p->first_done];
        p->first_done = (p->first_done + 1) % base->capacity;
    }
    p->done_count -= count;
    pthread_mutex_unlock(&p->lock);
    return count;
}

static void pool_free(dfio_reader *base) {
    pool *p = (pool *)base;
    pthread_mutex_lock(&p->lock);
    p->closing = 1;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int32_t i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->finished);
    pthread_mutex_destroy(&p->lock);
    free(p->reads);
    free(p->done);
    free(p);
}

static const io_reader_ops POOL = {pool_exchange, NULL, NULL, pool_free};

static void finished_init(pthread_cond_t *c) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#ifndef __APPLE__
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(c, &attributes);
    pthread_condattr_destroy(&attributes);
}

int32_t io_pool_open(int32_t capacity, int32_t threads, dfio_reader **out) {
    pool *p = calloc(1, sizeof *p + (size_t)threads * sizeof(pthread_t));
    if (!p) return -ENOMEM;
    p->base = (dfio_reader){&POOL, capacity, 0};
    p->reads = calloc((size_t)capacity, sizeof *p->reads);
    p->done = calloc((size_t)capacity, sizeof *p->done);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    finished_init(&p->finished);
    int error = p->reads && p->done ? 0 : ENOMEM;
    while (!error && p->threads < threads) {
        error = pthread_create(&p->thread[p->threads], NULL, pool_run, p);
        if (!error) p->threads++;
    }
    if (error) {
        pool_free(&p->base);
        return -error;
    }
    *out = &p->base;
    return 0;
}
