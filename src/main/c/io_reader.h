/* What a reader has inside: private to the io_*.c files. */
#ifndef DELTAFIN_IO_READER_H
#define DELTAFIN_IO_READER_H

#include "deltafin_io.h"

typedef struct {
    int32_t (*exchange)(dfio_reader *, const dfio_read *, int32_t n, int32_t wait, int64_t timeout_ns, dfio_done *,
                        int32_t max);
    int32_t (*pin)(dfio_reader *, uint64_t address, uint64_t bytes);
    int32_t (*unpin)(dfio_reader *);
    void (*free)(dfio_reader *); /* called with nothing in flight */
} io_reader_ops;

struct dfio_reader {
    const io_reader_ops *ops;
    int32_t capacity;
    int32_t in_flight; /* started and not yet returned as done */
};

int32_t io_ring_open(int32_t capacity, dfio_reader **out);
int32_t io_pool_open(int32_t capacity, int32_t threads, dfio_reader **out);

#endif
