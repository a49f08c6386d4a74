package ai.deltafin.io;

/**
 * Reads ranges of files into native memory, many at a time, on any number of drives. One thread uses a reader: it
 * queues reads, starts them together and collects what is done. Nothing here allocates on the heap.
 *
 * <p>A read may return fewer bytes than asked; going on from there is the caller's business, as is every deadline.
 * Memory given to a read is the drive's until that read's completion has been collected.
 */
public interface DriveReader {
    /** What people call this way of reading, for example {@code io_uring}. */
    String name();

    /** Most reads that may be queued or under way. */
    int capacity();

    /** Reads queued or under way. */
    int inFlight();

    /**
     * Queues one read; {@link #await} starts it.
     *
     * @param address native memory, aligned as {@code file.access()} asks, as are length and offset
     * @param tag comes back with the completion
     * @throws IllegalStateException if the capacity is used up
     */
    void read(DriveFile file, long address, int length, long offset, long tag);

    /**
     * Starts what is queued and collects completions.
     *
     * @param wait how many completions to wait for; 0 only looks
     * @param timeoutNanos longest wait; negative = no limit
     * @return how many completions {@link #tag} and {@link #result} now tell of, until the next call
     */
    int await(int wait, long timeoutNanos);

    /** Tag of the i-th collected completion. */
    long tag(int i);

    /** Bytes read by the i-th collected completion, or -errno. */
    long result(int i);

    /** Pins memory for cheaper reads where that exists; without it reads work all the same. */
    default void pin(AlignedMemory memory) {}

    /** Undoes {@link #pin}; needed before pages of the pinned memory are given back. */
    default void unpin() {}

    /**
     * Waits for reads under way and frees the reader.
     *
     * @return how many reads never ended: their memory must never be unmapped
     */
    int close(long timeoutNanos);
}
