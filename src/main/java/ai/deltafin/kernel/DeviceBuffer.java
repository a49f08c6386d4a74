package ai.deltafin.kernel;

import java.lang.foreign.MemorySegment;

/**
 * A block of device memory that reads as zero when new. Closing frees it; closing the device does not, so that an owner
 * is always explicit.
 */
public final class DeviceBuffer implements AutoCloseable {
    private final Device device;
    private final long address;
    private final long bytes;
    private final Memory memory;
    private boolean closed;

    DeviceBuffer(Device device, long address, long bytes, Memory memory) {
        this.device = device;
        this.address = address;
        this.bytes = bytes;
        this.memory = memory;
    }

    /** Address of the first byte, for kernels. */
    public long address() {
        return address;
    }

    /** Size in bytes. */
    public long bytes() {
        return bytes;
    }

    /**
     * The buffer as host memory.
     *
     * @throws IllegalStateException if the host may not look at it
     */
    public MemorySegment segment() {
        if (memory != Memory.HOST_VISIBLE) {
            throw new IllegalStateException("device memory cannot be read by the host: read it through a queue");
        }
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            device.free(address);
        }
    }
}
