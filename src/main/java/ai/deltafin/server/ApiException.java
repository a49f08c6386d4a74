package ai.deltafin.server;

import org.jspecify.annotations.Nullable;

/** A request that is answered with an error: the status, and what a client's error object says. */
final class ApiException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final @Nullable String param;
    private final String code;

    private ApiException(int status, String code, @Nullable String param, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
        this.param = param;
    }

    /** The request cannot be honoured because of one field. */
    static ApiException invalid(@Nullable String param, String message) {
        return new ApiException(400, "invalid_request", param, message);
    }

    /** Any other refusal. */
    static ApiException of(int status, String code, String message) {
        return new ApiException(status, code, null, message);
    }

    int status() {
        return status;
    }

    /** Path of the offending field; null where it is not one field's fault. */
    @Nullable
    String param() {
        return param;
    }

    String code() {
        return code;
    }

    String text() {
        return String.valueOf(getMessage());
    }
}
