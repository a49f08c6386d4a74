/* The common entry of both readers: checks, counts, closes. */
#include "io_reader.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int32_t dfio_reader_open(int32_t kind, int32_t capacity, int32_t threads, dfio_reader **out) {
    *out = NULL;
    if (capacity < 1 || capacity > 16384) return -EINVAL;
    if (kind == DFIO_IO_URING) return io_ring_open(capacity, out);
    if (kind == DFIO_PREAD && threads >= 1 && threads <= 1024) return io_pool_open(capacity, threads, out);
    return -EINVAL;
}

int32_t dfio_reader_exchange(dfio_reader *reader, const dfio_read *reads, int32_t n, int32_t wait, int64_t timeout_ns,
                             dfio_done *done, int32_t max) {
    if (n < 0 || max < 0 || wait > max || reader->in_flight > reader->capacity - n) return -EINVAL;
    if (wait > reader->in_flight + n) wait = reader->in_flight + n;
    int32_t rc = reader->ops->exchange(reader, reads, n, wait, timeout_ns, done, max);
    if (rc >= 0) reader->in_flight += n - rc;
    return rc;
}

int32_t dfio_reader_pin(dfio_reader *reader, uint64_t address, uint64_t bytes) {
    return reader->ops->pin ? reader->ops->pin(reader, address, bytes) : 0;
}

int32_t dfio_reader_unpin(dfio_reader *reader) {
    return reader->ops->unpin ? reader->ops->unpin(reader) : 0;
}

int32_t dfio_reader_close(dfio_reader *reader, int64_t timeout_ns) {
    int64_t end = now_ns() + timeout_ns;
    dfio_done done[64];
    while (reader->in_flight > 0) {
        int64_t left = end - now_ns();
        if (left <= 0) return reader->in_flight;
        int32_t rc = dfio_reader_exchange(reader, NULL, 0, 1, left, done, 64);
        if (rc < 0) return reader->in_flight;
    }
    reader->ops->free(reader);
    return 0;
}
