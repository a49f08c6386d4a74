package ai.deltafin.io;

/** Memory or a file could not be had from the system: what was tried, what came back, what to do. */
public class StorageException extends RuntimeException {
    private final int errno;

    /**
     * A failure to report.
     *
     * @param message what was tried, on what, and what to do
     * @param errno the system's error number, or 0 where there is none
     */
    public StorageException(String message, int errno) {
        super(errno == 0 ? message : message + ": " + Errno.text(errno));
        this.errno = errno;
    }

    /** The system's error number, or 0. */
    public int errno() {
        return errno;
    }
}
