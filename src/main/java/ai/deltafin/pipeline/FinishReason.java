package ai.deltafin.pipeline;

/** Why a generation ended. */
public enum FinishReason {
    /** The model ended its message. */
    END,
    /** A stop string of the request appeared. */
    STOP,
    /** The bound on new tokens was reached. */
    LENGTH,
    /** The request was cancelled. */
    CANCELLED
}
