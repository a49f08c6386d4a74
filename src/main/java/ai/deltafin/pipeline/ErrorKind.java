package ai.deltafin.pipeline;

/** Who is to blame for a failed request: what a client needs to know to choose its next step. */
public enum ErrorKind {
    /** The prompt or an option cannot be honoured. */
    INVALID_REQUEST,
    /** The prompt and its answer do not fit the model's context. */
    CONTEXT_LENGTH,
    /** The client took its events too slowly for too long. */
    SLOW_CLIENT,
    /** The engine failed; other requests are not touched. */
    ENGINE,
    /** The process is closing. */
    SHUTDOWN
}
