package ai.deltafin.pipeline;

/** A request's stop flag. Any thread sets it, once and for good; the decode thread looks at it before every layer. */
public final class CancelToken {

    private volatile boolean cancelled;

    /** Asks the request to stop at the next layer. What was generated stays; a second call changes nothing. */
    public void cancel() {
        cancelled = true;
    }

    /** Whether the request was asked to stop. */
    public boolean cancelled() {
        return cancelled;
    }
}
