package ai.deltafin.engine;

import java.lang.foreign.MemorySegment;

/** Looks on while a pass runs, on the decode thread, between layers. */
public interface PassObserver {
    /** Sees nothing and never cancels. */
    PassObserver NONE = () -> false;

    /** Whether the pass should stop; asked before every layer and between experts. */
    boolean cancelled();

    /** Layer {@code done} of {@code layers} (counted from 1) is complete. */
    default void layerDone(int done, int layers) {}

    /** Whether {@link #waypoint} wants rows; asked once a pass. */
    default boolean wantsWaypoints() {
        return false;
    }

    /** The residual prefix of the pass's last row after a layer: fp32 [hidden], valid during the call. */
    default void waypoint(int layer, MemorySegment prefix) {}

    /**
     * The routes of one layer.
     *
     * @param ids expert ids [rows][k], descending by selection score; valid during the call
     * @param weights mixing weights [rows][k]; valid during the call
     */
    default void routes(int layer, int rows, int k, int[] ids, float[] weights) {}
}
