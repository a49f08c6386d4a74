package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Matrix products that run as one piece of work (array of df_matmul_op). Built once for a layer; addresses of rows may
 * be moved before each call.
 */
public final class MatmulGroup {
    private static final int BYTES = 72;
    private final MemorySegment ops;
    private final int size;

    /** A group of {@code size} products whose memory belongs to {@code arena}. */
    public MatmulGroup(Arena arena, int size) {
        this.ops = arena.allocate((long) BYTES * size, 8);
        this.size = size;
    }

    /**
     * Describes product {@code index}: y[t] = w x[t] for every row t.
     *
     * @param x address of fp32 rows of w.cols()
     * @param xStride floats from one row of x to the next
     * @param y address of fp32 rows of w.rows()
     * @param yStride floats from one row of y to the next
     */
    public MatmulGroup set(int index, DeviceMatrix w, long x, long xStride, long y, long yStride) {
        long at = (long) index * BYTES;
        ops.set(ValueLayout.JAVA_LONG, at, w.address());
        ops.set(ValueLayout.JAVA_LONG, at + 8, w.scales());
        ops.set(ValueLayout.JAVA_LONG, at + 16, x);
        ops.set(ValueLayout.JAVA_LONG, at + 24, y);
        ops.set(ValueLayout.JAVA_LONG, at + 32, w.rows());
        ops.set(ValueLayout.JAVA_LONG, at + 40, w.cols());
        ops.set(ValueLayout.JAVA_LONG, at + 48, xStride);
        ops.set(ValueLayout.JAVA_LONG, at + 56, yStride);
        ops.set(ValueLayout.JAVA_INT, at + 64, w.format().code);
        return this;
    }

    /** Moves the output rows of product {@code index}. */
    public void output(int index, long y) {
        ops.set(ValueLayout.JAVA_LONG, (long) index * BYTES + 24, y);
    }

    /** Moves the input rows of product {@code index}. */
    public void input(int index, long x) {
        ops.set(ValueLayout.JAVA_LONG, (long) index * BYTES + 16, x);
    }

    long address() {
        return ops.address();
    }

    int size() {
        return size;
    }
}
