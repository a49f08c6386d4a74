package ai.deltafin.pipeline;

/** A request that cannot be honoured as it stands; the message is meant for its author. */
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RequestException(String message, Throwable cause) {
        super(message, cause);
    }
}
