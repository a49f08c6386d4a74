package ai.deltafin.expert;

import ai.deltafin.model.ExpertTensor;

/**
 * Where a forward pass gets its routed experts. Every method is called by the decode thread only.
 *
 * <p>Residency, reading order and prediction decide when bytes move, never what comes out: the engine keeps each
 * expert's result apart and sums in route order.
 */
public interface ExpertSource extends AutoCloseable {

    /**
     * Demands distinct experts of one layer and submits reads for those that are not resident.
     *
     * @param layer zero-based layer
     * @param experts expert ids in the order of their first use
     * @param count how many entries of {@code experts} count
     */
    Demand demand(int layer, int[] experts, int count);

    /** A hint that may be late or wrong: experts that a coming layer will probably want, most likely first. */
    void predict(int layer, int[] experts, int count);

    /** Whether {@link #predict} is worth calling at all. */
    boolean wantsPredictions();

    /**
     * The exact routes of one layer of the pass in progress.
     *
     * @param rows how many rows the pass has
     * @param ids expert ids, [rows][k], in descending order of the selection score
     * @param weights mixing weights, [rows][k]
     */
    void routed(int layer, int rows, int[] ids, float[] weights, int k);

    /** Tells how many rows of the last pass were committed. */
    void committed(int rows);

    /** Counters since the source was opened. */
    ExpertStats stats();

    @Override
    void close();

    /** The experts of one layer on their way; close it when the layer is done, on every path. */
    interface Demand extends AutoCloseable {
        /**
         * Waits until at least one expert that was not taken yet is ready and takes every ready one.
         *
         * @param indices receives positions in the demanded list; must be as long as that list
         * @return how many were taken; 0 when all have been
         */
        int take(int[] indices);

        /** Device address of a piece of a taken expert, valid until it is released; 0 for scales that do not exist. */
        long address(int index, ExpertTensor piece);

        /** Gives a taken expert's bytes back to the source. */
        void release(int index);

        /** Cancels what was not taken and releases what was not released. */
        @Override
        void close();
    }
}
