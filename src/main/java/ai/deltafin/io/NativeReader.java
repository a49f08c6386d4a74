package ai.deltafin.io;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The C readers: one io_uring, or a pool of threads that call pread. */
public final class NativeReader implements DriveReader {
    private static final int READ_BYTES = 32;
    private static final int DONE_BYTES = 16;

    private final String name;
    private final int capacity;
    private final long handle;
    private final Arena arena = Arena.ofShared(); // closed with the reader: a bench may close from another thread
    private final MemorySegment reads;
    private final MemorySegment done;
    private int queued;
    private int started;

    private NativeReader(String name, int kind, int capacity, int threads) {
        this.name = name;
        this.capacity = capacity;
        this.handle = IoLibrary.openReader(kind, capacity, threads);
        if (handle < 0) {
            arena.close();
            throw new StorageException("cannot open a reader by " + name, (int) -handle);
        }
        this.reads = arena.allocate((long) capacity * READ_BYTES, 8);
        this.done = arena.allocate((long) capacity * DONE_BYTES, 8);
    }

    /**
     * Reads through one io_uring.
     *
     * @throws StorageException if the system has none or does not allow it
     */
    public static NativeReader ioUring(int capacity) {
        return new NativeReader("io_uring", IoLibrary.IO_URING, capacity, 0);
    }

    /** Reads through threads that call pread. */
    public static NativeReader pread(int capacity, int threads) {
        return new NativeReader("pread", IoLibrary.PREAD, capacity, threads);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int inFlight() {
        return queued + started;
    }

    @Override
    public void read(DriveFile file, long address, int length, long offset, long tag) {
        if (inFlight() == capacity) {
            throw new IllegalStateException("more than " + capacity + " reads in flight");
        }
        long at = (long) queued * READ_BYTES;
        reads.set(ValueLayout.JAVA_LONG, at, address);
        reads.set(ValueLayout.JAVA_LONG, at + 8, offset);
        reads.set(ValueLayout.JAVA_LONG, at + 16, tag);
        reads.set(ValueLayout.JAVA_INT, at + 24, length);
        reads.set(ValueLayout.JAVA_INT, at + 28, file.fd());
        queued++;
    }

    @Override
    public int await(int wait, long timeoutNanos) {
        int n = queued;
        queued = 0;
        int rc = IoLibrary.exchange(handle, reads.address(), n, wait, timeoutNanos, done.address(), capacity);
        if (rc < 0) {
            return refused(n, rc);
        }
        started += n - rc;
        return rc;
    }

    /** The system took none of the queued reads: each of them ends with that error. */
    private int refused(int n, int error) {
        for (int i = 0; i < n; i++) {
            long tag = reads.get(ValueLayout.JAVA_LONG, (long) i * READ_BYTES + 16);
            done.set(ValueLayout.JAVA_LONG, (long) i * DONE_BYTES, tag);
            done.set(ValueLayout.JAVA_LONG, (long) i * DONE_BYTES + 8, error);
        }
        return n;
    }

    @Override
    public long tag(int i) {
        return done.get(ValueLayout.JAVA_LONG, (long) i * DONE_BYTES);
    }

    @Override
    public long result(int i) {
        return done.get(ValueLayout.JAVA_LONG, (long) i * DONE_BYTES + 8);
    }

    @Override
    public void pin(AlignedMemory memory) {
        IoLibrary.pin(handle, memory.address(), memory.bytes());
    }

    @Override
    public void unpin() {
        IoLibrary.unpin(handle);
    }

    @Override
    public int close(long timeoutNanos) {
        int stuck = IoLibrary.closeReader(handle, timeoutNanos);
        if (stuck == 0) {
            arena.close();
        }
        return stuck;
    }
}
