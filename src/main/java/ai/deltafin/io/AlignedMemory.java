package ai.deltafin.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Zeroed memory outside the heap, 2 MiB aligned, on huge pages where the system has them: expert slots live here and
 * drives write into them directly. Any thread may use the bytes; the owner closes it when no read can still arrive.
 */
public final class AlignedMemory implements AutoCloseable {
    private static final long PREFAULT_STEP = 1L << 30;

    private final long address;
    private final long bytes;
    private boolean open = true;

    private AlignedMemory(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
    }

    /**
     * Maps memory; the system gives pages at first touch.
     *
     * @throws StorageException if the system refuses that much
     */
    public static AlignedMemory map(long bytes) {
        long address = IoLibrary.map(bytes);
        if (address < 0) {
            throw new StorageException("cannot map " + bytes + " bytes of memory for experts", (int) -address);
        }
        return new AlignedMemory(address, bytes);
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** The memory as a segment without bounds on its life: use it only while this object is open. */
    public MemorySegment segment() {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    /** Makes the first {@code length} bytes present so that no read or kernel meets a page fault; 1 GiB at a time. */
    public void prefault(long length) {
        for (long at = 0; at < length; at += PREFAULT_STEP) {
            int rc = IoLibrary.prefault(address + at, Math.min(PREFAULT_STEP, length - at));
            if (rc < 0) {
                throw new StorageException(
                        "cannot fill " + length + " bytes of expert memory: lower --expert-cache or --memory", -rc);
            }
        }
    }

    /** Gives the whole pages of a range back to the system. */
    public void discard(long offset, long length) {
        IoLibrary.discard(address + offset, length);
    }

    /** Bytes of this memory that lie on huge pages now; -1 where the system does not tell. */
    public long hugeBytes() {
        try {
            return hugeBytes(Files.readAllLines(Path.of("/proc/self/smaps")));
        } catch (IOException e) {
            return -1;
        }
    }

    private long hugeBytes(List<String> smaps) {
        long sum = 0;
        boolean inside = false;
        for (String line : smaps) {
            int dash = line.indexOf('-');
            int space = line.indexOf(' ');
            if (dash > 0 && dash < space && line.charAt(space - 1) != ':') {
                long from = Long.parseUnsignedLong(line, 0, dash, 16);
                inside = from >= address && from < address + bytes;
            } else if (inside && line.startsWith("AnonHugePages:")) {
                sum += Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return sum;
    }

    /** Position of the first byte equal to {@code value} in native memory, or -1. */
    public static long find(long address, long length, int value) {
        return IoLibrary.find(address, length, value);
    }

    /** Unmaps. No read into this memory may be in flight. */
    @Override
    public void close() {
        if (open) {
            open = false;
            IoLibrary.unmap(address, bytes);
        }
    }
}
