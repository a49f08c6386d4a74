package ai.deltafin.kernel;

/** Where memory lives (enum df_memory). */
public enum Memory {
    /** On the device; the host may not look at it. */
    DEVICE(0),
    /** Readable and writable by host and device. */
    HOST_VISIBLE(1);

    final int code;

    Memory(int code) {
        this.code = code;
    }
}
