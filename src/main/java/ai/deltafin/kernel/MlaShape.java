package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The dimensions and the key-value up-projection of one MLA layer (df_mla_shape; k3-model.md 3.6). */
public final class MlaShape {
    private final MemorySegment shape;

    /**
     * A layer's attention.
     *
     * @param keyValue kv_b_proj [heads*(nope+value)][latent]
     * @param nope content dimensions of a query head (dn)
     * @param extra shared extra dimensions (dr)
     * @param value value dimensions of a head (dv)
     */
    public MlaShape(Arena arena, DeviceMatrix keyValue, int heads, long nope, long extra, long value) {
        shape = arena.allocate(48, 8);
        shape.set(ValueLayout.JAVA_LONG, 0, keyValue.address());
        shape.set(ValueLayout.JAVA_INT, 8, keyValue.format().code);
        shape.set(ValueLayout.JAVA_INT, 12, heads);
        shape.set(ValueLayout.JAVA_LONG, 16, nope);
        shape.set(ValueLayout.JAVA_LONG, 24, extra);
        shape.set(ValueLayout.JAVA_LONG, 32, value);
        shape.set(ValueLayout.JAVA_LONG, 40, keyValue.cols());
    }

    long address() {
        return shape.address();
    }
}
