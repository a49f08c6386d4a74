package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How a router picks (df_route_shape; k3-model.md 3.9). */
public final class RouteShape {
    private final MemorySegment shape;

    /**
     * A router.
     *
     * @param experts how many there are
     * @param k how many a row takes
     * @param softmax scores by softmax over all experts instead of sigmoid
     * @param groups expert groups; limiting is active only with more than one and more than {@code topkGroup}
     * @param topkGroup groups kept
     * @param renormalize weights divided by their sum
     * @param scale factor on the weights
     */
    public RouteShape(
            Arena arena,
            int experts,
            int k,
            boolean softmax,
            int groups,
            int topkGroup,
            boolean renormalize,
            float scale) {
        shape = arena.allocate(32, 8);
        shape.set(ValueLayout.JAVA_INT, 0, experts);
        shape.set(ValueLayout.JAVA_INT, 4, k);
        shape.set(ValueLayout.JAVA_INT, 8, softmax ? 2 : 1);
        shape.set(ValueLayout.JAVA_INT, 12, groups);
        shape.set(ValueLayout.JAVA_INT, 16, topkGroup);
        shape.set(ValueLayout.JAVA_INT, 20, renormalize ? 1 : 0);
        shape.set(ValueLayout.JAVA_FLOAT, 24, scale);
    }

    long address() {
        return shape.address();
    }
}
