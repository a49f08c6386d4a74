package ai.deltafin.pipeline;

import org.jspecify.annotations.Nullable;

/** A request that cannot be honoured as it stands; the message is meant for its author. */
public final class RequestException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String field;

    /**
     * A refusal.
     *
     * @param field path of the offending field; null where it is not one field's fault
     */
    public RequestException(@Nullable String field, String message, Throwable cause) {
        super(message, cause);
        this.field = field;
    }

    /** As the other, with nothing behind it. */
    public RequestException(@Nullable String field, String message) {
        super(message);
        this.field = field;
    }

    /** Path of the offending field, or null. */
    public @Nullable String field() {
        return field;
    }
}
