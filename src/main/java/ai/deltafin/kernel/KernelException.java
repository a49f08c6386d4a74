package ai.deltafin.kernel;

/** A kernel provider refused a call or failed; the message carries the provider's own words. */
public final class KernelException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Makes an exception that says which call failed and why. */
    public KernelException(String message) {
        super(message);
    }
}
