package ai.deltafin.pipeline;

import ai.deltafin.engine.PassObserver;
import ai.deltafin.engine.Rows;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** The model as the decode loop uses it. It belongs to the decode thread, which alone calls it. */
public interface DecodeModel extends AutoCloseable {

    /** Most rows of one pass. */
    int maxRows();

    /** Most positions of a session, prompt and answer together. */
    int contextLength();

    /** A sequence that holds the longest kept prefix of the prompt, at most all but its last id. */
    Sequence begin(int[] prompt);

    /** What the model has counted since it was opened. */
    Counters counters();

    @Override
    void close();

    /**
     * Running totals.
     *
     * @param expertBytes bytes of experts read from drives
     * @param expertWaitNanos time the decode thread waited for them
     * @param kernelNanos time inside kernel calls
     * @param partNanos time inside passes by kind of work
     */
    record Counters(long expertBytes, long expertWaitNanos, long kernelNanos, Map<String, Long> partNanos) {}

    /** One sequence of ids on its way through the model. */
    interface Sequence extends AutoCloseable {
        /** Rows computed so far. */
        int length();

        /**
         * Runs one pass over ids that follow the rows computed so far, and commits all of them. On any exception the
         * sequence stands where it stood.
         *
         * @param wanted {@link Rows#NONE} or {@link Rows#LAST}
         * @return fp32 logits [vocabulary] of the last id, valid until the next pass; an empty segment where none were
         *     wanted
         */
        MemorySegment feed(int[] ids, Rows wanted, PassObserver observer);

        /** Another prompt may part from this one here: a good place to keep. */
        void boundary();

        /** The request has ended; what was computed is kept for requests to come. */
        @Override
        void close();
    }
}
