package ai.deltafin.io;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import ai.deltafin.kernel.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The binding of {@code deltafin_io.h}: the only class of this room that links native code. Results are counts or -errno. */
final class IoLibrary {
    static final int IO_URING = 1;
    static final int PREAD = 2;

    private static final MethodHandle MAP = link("dfio_memory_map", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PREFAULT = link("dfio_memory_prefault", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DISCARD = link("dfio_memory_discard", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle UNMAP = link("dfio_memory_unmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle FIND = link("dfio_memory_find", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle OPEN = link("dfio_file_open", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle CLOSE = link("dfio_file_close", JAVA_INT, JAVA_INT);
    private static final MethodHandle ALIGNMENT = link("dfio_file_alignment", JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle READ =
            link("dfio_file_read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle DROP = link("dfio_file_drop_cache", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle READER_OPEN =
            link("dfio_reader_open", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle EXCHANGE = link(
            "dfio_reader_exchange", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle PIN = link("dfio_reader_pin", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle UNPIN = link("dfio_reader_unpin", JAVA_INT, JAVA_LONG);
    private static final MethodHandle READER_CLOSE = link("dfio_reader_close", JAVA_INT, JAVA_LONG, JAVA_LONG);

    private IoLibrary() {}

    private static MethodHandle link(String name, ValueLayout result, MemoryLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(NativeLibrary.lookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    static long map(long bytes) {
        try {
            return (long) MAP.invokeExact(bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int prefault(long address, long bytes) {
        try {
            return (int) PREFAULT.invokeExact(address, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int discard(long address, long bytes) {
        try {
            return (int) DISCARD.invokeExact(address, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int unmap(long address, long bytes) {
        try {
            return (int) UNMAP.invokeExact(address, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static long find(long address, long bytes, int value) {
        try {
            return (long) FIND.invokeExact(address, bytes, value);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int open(String path, boolean direct) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(path);
            return (int) OPEN.invokeExact(text, direct ? 1 : 0);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int close(int fd) {
        try {
            return (int) CLOSE.invokeExact(fd);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Alignment that direct reads need of file offsets and lengths; 0 where the system does not say. */
    static int offsetAlignment(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_INT, 2);
            int rc = (int) ALIGNMENT.invokeExact(fd, out);
            return rc < 0 ? 0 : out.getAtIndex(JAVA_INT, 1);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static long read(int fd, long address, long bytes, long offset) {
        try {
            return (long) READ.invokeExact(fd, address, bytes, offset);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int dropCache(int fd, long offset, long bytes) {
        try {
            return (int) DROP.invokeExact(fd, offset, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** A reader's handle, or -errno. */
    static long openReader(int kind, int capacity, int threads) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_LONG);
            int rc = (int) READER_OPEN.invokeExact(kind, capacity, threads, out);
            return rc < 0 ? rc : out.get(JAVA_LONG, 0);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int exchange(long reader, long reads, int n, int wait, long timeoutNanos, long done, int max) {
        try {
            return (int) EXCHANGE.invokeExact(reader, reads, n, wait, timeoutNanos, done, max);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int pin(long reader, long address, long bytes) {
        try {
            return (int) PIN.invokeExact(reader, address, bytes);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int unpin(long reader) {
        try {
            return (int) UNPIN.invokeExact(reader);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    static int closeReader(long reader, long timeoutNanos) {
        try {
            return (int) READER_CLOSE.invokeExact(reader, timeoutNanos);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
