package ai.deltafin.model;

import java.nio.file.Path;

/** A model directory cannot be used. The message names the file, the thing in it, expected, found, and what to do. */
public final class ModelException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A message that already says everything. */
    public ModelException(String message) {
        super(message);
    }

    /** A message that already says everything, and what the system or a parser said below it. */
    public ModelException(String message, Throwable cause) {
        super(message, cause);
    }

    /** The usual form: {@code file: what: expected X, found Y; cure}. */
    static ModelException mismatch(Path file, String what, Object expected, Object found, String cure) {
        return new ModelException(file + ": " + what + ": expected " + expected + ", found " + found + "; " + cure);
    }
}
