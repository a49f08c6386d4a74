package ai.deltafin.expert;

/** Is told what the expert source does, on the decode thread: must be quick and must not block. */
public interface ExpertListener {
    /** How a demanded expert came. */
    enum Kind {
        HIT,
        /** Read because a layer demanded it. */
        DEMAND,
        /** A guess that the layer wanted. */
        PROMOTED
    }

    /** Tells nobody. */
    ExpertListener NONE = new ExpertListener() {};

    /** A layer's exact route, as {@link ExpertSource#routed} gets it. */
    default void route(int layer, int rows, int[] ids, float[] weights, int k) {}

    /** The first rows of the pass were committed. */
    default void commit(int rows) {}

    /** A demanded expert is ready; {@code micros} since it was demanded. */
    default void read(int layer, int expert, Kind kind, long bytes, long micros) {}

    /** A wrong guess became a candidate to stay. */
    default void candidate(int layer, int expert) {}
}
