package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Routed experts that run as one piece of work (df_expert_shape and an array of df_expert_op). */
public final class ExpertGroup {
    private static final int BYTES = 64;
    private final MemorySegment shape;
    private final MemorySegment ops;

    /**
     * A group for one shape of expert.
     *
     * @param capacity most experts in one call
     * @param latent columns of w1 and w3, rows of w2 (Z)
     * @param width rows of w1 and w3, columns of w2 (F)
     * @param k route slots of a row
     */
    public ExpertGroup(Arena arena, int capacity, long latent, long width, int k, Activation activation) {
        ops = arena.allocate((long) BYTES * capacity, 8);
        shape = arena.allocate(56, 8);
        shape.set(ValueLayout.JAVA_LONG, 24, latent);
        shape.set(ValueLayout.JAVA_LONG, 32, width);
        shape.set(ValueLayout.JAVA_INT, 40, k);
        shape.set(ValueLayout.JAVA_INT, 44, activation.code());
        shape.set(ValueLayout.JAVA_FLOAT, 48, activation.gateCap());
        shape.set(ValueLayout.JAVA_FLOAT, 52, activation.upCap());
    }

    /**
     * Says where the rows are.
     *
     * @param x latent rows [T][Z]
     * @param hidden scratch [T*k][F]
     * @param results [T*k][Z]
     */
    public void rows(long x, long hidden, long results) {
        shape.set(ValueLayout.JAVA_LONG, 0, x);
        shape.set(ValueLayout.JAVA_LONG, 8, hidden);
        shape.set(ValueLayout.JAVA_LONG, 16, results);
    }

    /**
     * Describes expert {@code index} of the next call.
     *
     * @param pairs address of host int32 [count]: row * k + slot, rows ascending
     */
    public void set(
            int index,
            Format format,
            long w1,
            long w1Scales,
            long w2,
            long w2Scales,
            long w3,
            long w3Scales,
            long pairs,
            int count) {
        long at = (long) index * BYTES;
        ops.set(ValueLayout.JAVA_LONG, at, w1);
        ops.set(ValueLayout.JAVA_LONG, at + 8, w1Scales);
        ops.set(ValueLayout.JAVA_LONG, at + 16, w2);
        ops.set(ValueLayout.JAVA_LONG, at + 24, w2Scales);
        ops.set(ValueLayout.JAVA_LONG, at + 32, w3);
        ops.set(ValueLayout.JAVA_LONG, at + 40, w3Scales);
        ops.set(ValueLayout.JAVA_LONG, at + 48, pairs);
        ops.set(ValueLayout.JAVA_INT, at + 56, count);
        ops.set(ValueLayout.JAVA_INT, at + 60, format.code);
    }

    long shapeAddress() {
        return shape.address();
    }

    long opsAddress() {
        return ops.address();
    }
}
