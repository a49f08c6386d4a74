/*
 * Deltafin I/O ABI: aligned memory and file reads for expert streaming. Host only; no compute provider implements it.
 *
 * Results are a non-negative count or -errno. A reader is used by one thread at a time. Memory handed to a read
 * belongs to the kernel until that read's completion has been returned by dfio_reader_exchange.
 */
#ifndef DELTAFIN_IO_H
#define DELTAFIN_IO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFIO_API __attribute__((visibility("default")))

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Maps zeroed memory, 2 MiB aligned, asking for huge pages and staying out of core dumps and children. Returns the
 * address or -errno. Pages are given by the system at first touch or by dfio_memory_prefault. */
DFIO_API int64_t dfio_memory_map(uint64_t bytes);
/* Makes the pages of a range present; several threads may do different ranges at once. */
DFIO_API int32_t dfio_memory_prefault(uint64_t address, uint64_t bytes);
/* Gives whole pages of a range back to the system; they read as zero afterwards. */
DFIO_API int32_t dfio_memory_discard(uint64_t address, uint64_t bytes);
DFIO_API int32_t dfio_memory_unmap(uint64_t address, uint64_t bytes);
/* Index of the first byte equal to `value`, or -1. */
DFIO_API int64_t dfio_memory_find(uint64_t address, uint64_t bytes, int32_t value);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Opens for reading. direct = 1 goes past the page cache (O_DIRECT; F_NOCACHE on macOS) or fails with -EINVAL. */
DFIO_API int32_t dfio_file_open(const char *path, int32_t direct);
DFIO_API int32_t dfio_file_close(int32_t fd);
/* Alignment that direct reads of this file need: out[0] of memory, out[1] of offset and length; 0 where unknown. */
DFIO_API int32_t dfio_file_alignment(int32_t fd, int32_t out[2]);
/* One pread, repeated only when a signal interrupted it; may return fewer bytes than asked. */
DFIO_API int64_t dfio_file_read(int32_t fd, uint64_t address, uint64_t bytes, uint64_t offset);
/* Drops this file's clean pages in a range from the page cache (advice; 0 where the system cannot). */
DFIO_API int32_t dfio_file_drop_cache(int32_t fd, uint64_t offset, uint64_t bytes);

/* ---- readers ----------------------------------------------------------------------------------------------------- */

typedef struct dfio_reader dfio_reader;

enum dfio_kind { DFIO_IO_URING = 1, DFIO_PREAD = 2 };

typedef struct {
    uint64_t address; /* host memory */
    uint64_t offset;  /* in the file */
    uint64_t tag;     /* returned with the completion */
    uint32_t length;  /* at most 1 GiB */
    int32_t fd;
} dfio_read;

typedef struct {
    uint64_t tag;
    int64_t result; /* bytes read, perhaps fewer than asked, or -errno */
} dfio_done;

/* Opens a reader for at most `capacity` reads in flight. DFIO_PREAD uses `threads` threads; DFIO_IO_URING none.
 * -ENOSYS or -EPERM where the system has or allows no io_uring of Linux 5.11 or newer. */
DFIO_API int32_t dfio_reader_open(int32_t kind, int32_t capacity, int32_t threads, dfio_reader **out);
/* Starts n reads, waits until at least `wait` completions can be returned or timeout_ns has passed (< 0: no limit) and
 * returns up to `max` completions. Reads in flight plus n must not exceed the capacity. Returns how many completions
 * were written, or -errno when nothing could be started (no read of this call was then started). */
DFIO_API int32_t dfio_reader_exchange(dfio_reader *reader, const dfio_read *reads, int32_t n, int32_t wait,
                                      int64_t timeout_ns, dfio_done *done, int32_t max);
/* Pins [address, address + bytes) for cheaper reads into it; a reader without that notion returns 0. -ENOMEM where
 * the memlock limit is too small: reads work all the same. Unpin before discarding pages of the range. */
DFIO_API int32_t dfio_reader_pin(dfio_reader *reader, uint64_t address, uint64_t bytes);
DFIO_API int32_t dfio_reader_unpin(dfio_reader *reader);
/* Waits up to timeout_ns for reads in flight and frees the reader. Returns how many reads never ended: their memory
 * must then stay mapped for ever, and the reader is leaked on purpose. */
DFIO_API int32_t dfio_reader_close(dfio_reader *reader, int64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif
