package ai.deltafin.expert;

/**
 * Decides which experts stay in RAM. Its input is only the sequence of these calls, never a clock or the order in which
 * reads arrive, so that the replay of a trace through the same class gives the same hits and evictions as the live run
 * (expert-streaming.md 4.3). One thread; no randomness.
 */
public interface ExpertPolicy {
    /** Name in traces and reports. */
    String name();

    /** How many experts may stay in all layers together; drops what is too much. */
    void slots(int total, Evictions out);

    /**
     * A layer's exact route. The experts it names are in RAM or being read; those that shall not stay are dropped
     * after their use.
     *
     * @param ids [rows][k] expert ids
     * @param certain whether every row is sure to be committed (a prefill chunk, a single row)
     */
    void routed(int layer, int[] ids, int rows, boolean certain, Evictions out);

    /** The first {@code rows} rows of the pass are committed. */
    void committed(int rows);

    /** A wrong guess has been read: it becomes a candidate when its layer is routed. */
    void guessReady(int layer, int expert);

    /** Whether an expert is among those that stay. */
    boolean resident(int layer, int expert);

    /** How probable it is that the next token uses an expert: the order of guesses and of warming up. */
    double score(int layer, int expert);

    /** An expert that was to stay is not in RAM after all (its read failed). */
    void lost(int layer, int expert);
}
