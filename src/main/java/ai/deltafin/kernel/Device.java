package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** An open compute device of a provider. Close it after every buffer and queue made from it. */
public final class Device implements AutoCloseable {
    private final Abi abi;
    private final long handle;
    private final DeviceDescription description;

    private Device(Abi abi, long handle) {
        this.abi = abi;
        this.handle = handle;
        this.description = describe(abi, handle);
    }

    /**
     * Opens the CPU.
     *
     * @throws KernelException if the library is of another ABI version, or the instruction set is not there
     */
    public static Device open(DeviceOptions options) {
        Abi abi = Abi.cpu();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(16, 8);
            request.set(ValueLayout.JAVA_INT, 0, options.threads());
            request.set(ValueLayout.JAVA_INT, 4, options.isa().code);
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            int status = abi.deviceOpen(request.address(), out.address());
            if (status != 0) {
                throw new KernelException("cannot open the CPU device (" + options + "): " + abi.lastError());
            }
            return new Device(abi, out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    /** What this device is. */
    public DeviceDescription description() {
        return description;
    }

    /**
     * Allocates zeroed memory.
     *
     * @throws KernelException if there is not enough
     */
    public DeviceBuffer allocate(long bytes, Memory memory) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("cannot allocate " + bytes + " bytes");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            check(abi.alloc(handle, bytes, memory.code, out.address()), "allocate " + bytes + " bytes");
            return new DeviceBuffer(this, out.get(ValueLayout.JAVA_LONG, 0), bytes, memory);
        }
    }

    /**
     * Makes native host memory readable by kernels, in place where the device is unified; the memory must outlive
     * every use.
     *
     * @return the device address
     */
    public long importHost(MemorySegment host) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            check(abi.importHost(handle, host.address(), host.byteSize(), out.address()), "import host memory");
            return out.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Opens a queue; use it from one thread at a time. */
    public Queue queue() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
            check(abi.queueOpen(handle, out.address()), "open a queue");
            return new Queue(abi, out.get(ValueLayout.JAVA_LONG, 0));
        }
    }

    void free(long address) {
        check(abi.free(handle, address), "free memory");
    }

    private void check(int status, String what) {
        if (status != 0) {
            throw new KernelException("cannot " + what + ": " + abi.lastError());
        }
    }

    @Override
    public void close() {
        abi.deviceClose(handle);
    }

    private static DeviceDescription describe(Abi abi, long handle) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment info = arena.allocate(176, 8);
            if (abi.deviceDescribe(handle, info.address()) != 0) {
                throw new KernelException("cannot describe the device: " + abi.lastError());
            }
            return new DeviceDescription(
                    info.getString(0, StandardCharsets.UTF_8),
                    info.getString(128, StandardCharsets.UTF_8),
                    info.get(ValueLayout.JAVA_INT, 160),
                    info.get(ValueLayout.JAVA_INT, 164) != 0,
                    info.get(ValueLayout.JAVA_LONG, 168));
        }
    }
}
