/* Reads through one io_uring: two ring buffers shared with the kernel, raw system calls, no library. */
#include "io_reader.h"

#include <errno.h>
#include <stddef.h>

#ifdef __linux__

#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIN_BYTES = 1 << 30, PINS = 1024 };

typedef struct {
    dfio_reader base;
    int fd;
    char *rings; /* one mapping holds both queues */
    size_t ring_bytes;
    struct io_uring_sqe *sqes;
    size_t sqe_bytes;
    unsigned *sq_head, *sq_tail, *sq_array, *cq_head, *cq_tail;
    struct io_uring_cqe *cqes;
    unsigned sq_mask, cq_mask, tail, queued; /* queued: written to the queue, not yet taken by the kernel */
    uint64_t pinned, pinned_bytes;
} ring;

static int ring_enter(ring *r, unsigned submit, unsigned wait, int64_t timeout_ns) {
    struct __kernel_timespec ts = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    struct io_uring_getevents_arg arg = {0};
    unsigned flags = 0;
    if (wait || timeout_ns == 0) flags |= IORING_ENTER_GETEVENTS;
    if (wait && timeout_ns >= 0) arg.ts = (uint64_t)(uintptr_t)&ts;
    long rc = syscall(__NR_io_uring_enter, r->fd, submit, wait, flags | IORING_ENTER_EXT_ARG, &arg, sizeof arg);
    return rc < 0 ? -errno : (int)rc;
}

static unsigned ring_ready(const ring *r) {
    return __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) - *r->cq_head;
}

static void ring_queue(ring *r, const dfio_read *read) {
    unsigned i = r->tail & r->sq_mask;
    struct io_uring_sqe *e = &r->sqes[i];
    memset(e, 0, sizeof *e);
    e->opcode = IORING_OP_READ;
    e->fd = read->fd;
    e->addr = read->address;
    e->len = read->length;
    e->off = read->offset;
    e->user_data = read->tag;
    uint64_t at = read->address - r->pinned;
    if (read->address >= r->pinned && at + read->length <= r->pinned_bytes &&
        at / PIN_BYTES == (at + read->length - 1) / PIN_BYTES) {
        e->opcode = IORING_OP_READ_FIXED;
        e->buf_index = (uint16_t)(at / PIN_BYTES);
    }
    r->sq_array[i] = i;
    r->tail++;
    r->queued++;
}

static int32_t ring_take(ring *r, dfio_done *done, int32_t max) {
    unsigned head = *r->cq_head, n = ring_ready(r);
    if (n > (unsigned)max) n = (unsigned)max;
    for (unsigned i = 0; i < n; i++) {
        const struct io_uring_cqe *c = &r->cqes[(head + i) & r->cq_mask];
        done[i].tag = c->user_data;
        done[i].result = c->res;
    }
    __atomic_store_n(r->cq_head, head + n, __ATOMIC_RELEASE);
    return (int32_t)n;
}

/* A full queue (EAGAIN, EBUSY, ENOMEM) leaves reads queued; they go in with the next call, after completions came. */
static int32_t ring_exchange(dfio_reader *base, const dfio_read *reads, int32_t n, int32_t wait, int64_t timeout_ns,
                             dfio_done *done, int32_t max) {
    ring *r = (ring *)base;
    unsigned before = r->tail;
    for (int32_t i = 0; i < n; i++)
        ring_queue(r, &reads[i]);
    __atomic_store_n(r->sq_tail, r->tail, __ATOMIC_RELEASE);
    for (;;) {
        unsigned missing = ring_ready(r) < (unsigned)wait ? (unsigned)wait : 0;
        if (r->queued == 0 && missing == 0) break;
        int rc = ring_enter(r, r->queued, missing, timeout_ns);
        if (rc >= 0) {
            r->queued -= (unsigned)rc;
            continue;
        }
        if (rc == -EINTR) continue;
        if (rc == -ETIME) break;
        int full = rc == -EAGAIN || rc == -EBUSY || rc == -ENOMEM;
        if (full && base->in_flight + n > (int32_t)r->queued) {
            ring_enter(r, 0, 1, timeout_ns < 0 || timeout_ns > 1000000 ? 1000000 : timeout_ns);
            break;
        }
        if (r->queued < (unsigned)n) break; /* part is under way: its completions tell the rest */
        r->tail = before;                   /* nothing of this call was taken */
        r->queued -= (unsigned)n;
        __atomic_store_n(r->sq_tail, r->tail, __ATOMIC_RELEASE);
        return rc;
    }
    return ring_take(r, done, max);
}

static int32_t ring_unpin(dfio_reader *base) {
    ring *r = (ring *)base;
    if (r->pinned_bytes == 0) return 0;
    r->pinned_bytes = 0;
    return syscall(__NR_io_uring_register, r->fd, IORING_UNREGISTER_BUFFERS, NULL, 0) < 0 ? -errno : 0;
}

static int32_t ring_pin(dfio_reader *base, uint64_t address, uint64_t bytes) {
    ring *r = (ring *)base;
    ring_unpin(base);
    uint64_t n = (bytes + PIN_BYTES - 1) / PIN_BYTES;
    if (n == 0 || n > PINS) return -EINVAL;
    struct iovec *v = calloc(n, sizeof *v);
    if (!v) return -ENOMEM;
    for (uint64_t i = 0; i < n; i++) {
        v[i].iov_base = (void *)(uintptr_t)(address + i * PIN_BYTES);
        v[i].iov_len = i + 1 < n ? PIN_BYTES : bytes - i * PIN_BYTES;
    }
    long rc = syscall(__NR_io_uring_register, r->fd, IORING_REGISTER_BUFFERS, v, (unsigned)n);
    int32_t error = rc < 0 ? -errno : 0;
    free(v);
    if (error) return error;
    r->pinned = address;
    r->pinned_bytes = bytes;
    return 0;
}

static void ring_free(dfio_reader *base) {
    ring *r = (ring *)base;
    if (r->sqes) munmap(r->sqes, r->sqe_bytes);
    if (r->rings) munmap(r->rings, r->ring_bytes);
    if (r->fd >= 0) close(r->fd);
    free(r);
}

static const io_reader_ops RING = {ring_exchange, ring_pin, ring_unpin, ring_free};

int32_t io_ring_open(int32_t capacity, dfio_reader **out) {
    ring *r = calloc(1, sizeof *r);
    if (!r) return -ENOMEM;
    struct io_uring_params p = {.flags = IORING_SETUP_CLAMP};
    r->base = (dfio_reader){&RING, capacity, 0};
    r->fd = (int)syscall(__NR_io_uring_setup, (unsigned)capacity, &p);
    int32_t error = r->fd < 0 ? -errno : 0;
    unsigned need = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG;
    if (!error && ((p.features & need) != need || p.sq_entries < (unsigned)capacity)) error = -ENOSYS;
    if (!error) {
        size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned);
        size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
        r->ring_bytes = sq > cq ? sq : cq;
        r->sqe_bytes = p.sq_entries * sizeof(struct io_uring_sqe);
        int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_POPULATE;
        void *rings = mmap(NULL, r->ring_bytes, prot, how, r->fd, IORING_OFF_SQ_RING);
        if (rings == MAP_FAILED)
            error = -errno;
        else
            r->rings = rings;
        void *sqes = error ? MAP_FAILED : mmap(NULL, r->sqe_bytes, prot, how, r->fd, IORING_OFF_SQES);
        if (!error && sqes == MAP_FAILED) error = -errno;
        if (sqes != MAP_FAILED) r->sqes = sqes;
    }
    if (error) {
        ring_free(&r->base);
        return error;
    }
    r->sq_head = (unsigned *)(void *)(r->rings + p.sq_off.head);
    r->sq_tail = (unsigned *)(void *)(r->rings + p.sq_off.tail);
    r->sq_mask = *(unsigned *)(void *)(r->rings + p.sq_off.ring_mask);
    r->sq_array = (unsigned *)(void *)(r->rings + p.sq_off.array);
    r->cq_head = (unsigned *)(void *)(r->rings + p.cq_off.head);
    r->cq_tail = (unsigned *)(void *)(r->rings + p.cq_off.tail);
    r->cq_mask = *(unsigned *)(void *)(r->rings + p.cq_off.ring_mask);
    r->cqes = (struct io_uring_cqe *)(void *)(r->rings + p.cq_off.cqes);
    r->tail = *r->sq_tail;
    *out = &r->base;
    return 0;
}

#else

int32_t io_ring_open(int32_t capacity, dfio_reader **out) {
    (void)capacity;
    (void)out;
    return -ENOSYS;
}

#endif
