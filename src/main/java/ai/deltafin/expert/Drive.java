package ai.deltafin.expert;

import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * One physical drive: its rate as measured while it works, how much may be in flight, its health. The decode thread
 * owns the rate; the other fields may be read by any thread.
 */
public final class Drive {
    /** Whether reads are sent there. */
    public enum State {
        HEALTHY,
        /** Gave errors lately but still answers. */
        DEGRADED,
        /** Does not answer: used only where nothing else holds the bytes. */
        OFFLINE
    }

    private static final long SAMPLE_NANOS = 50_000_000L;

    private final int id;
    private final Path root;
    private final int windowBytes;
    private volatile State state = State.HEALTHY;
    private volatile double rate;
    private volatile long lastErrorNanos;

    // Decode thread only.
    private long outstanding;
    private long busyFrom;
    private long busyNanos;
    private long busyBytes;

    final LongAdder readBytes = new LongAdder();
    final LongAdder errors = new LongAdder();

    /**
     * A healthy drive with nothing in flight.
     *
     * @param rate bytes a second to begin with: a probe's or a configured share; later measured
     * @param windowBytes most bytes handed to the device at once, at least two pieces
     */
    public Drive(int id, Path root, double rate, int windowBytes) {
        this.id = id;
        this.root = root;
        this.rate = rate;
        this.windowBytes = windowBytes;
    }

    public int id() {
        return id;
    }

    public Path root() {
        return root;
    }

    public State state() {
        return state;
    }

    /** Bytes a second, as measured lately. */
    public double rate() {
        return rate;
    }

    /** Bytes read from it, of any kind. */
    public long bytesRead() {
        return readBytes.sum();
    }

    int windowBytes() {
        return windowBytes;
    }

    long outstanding() {
        return outstanding;
    }

    boolean usable() {
        return state != State.OFFLINE;
    }

    boolean hasRoom(int bytes) {
        return outstanding == 0 || outstanding + bytes <= windowBytes;
    }

    void began(int bytes, long now) {
        if (outstanding == 0) {
            busyFrom = now;
        }
        outstanding += bytes;
    }

    /** A read ended; {@code got} bytes came. The rate follows busy time with a half-life of one second. */
    void ended(int bytes, long got, long now) {
        outstanding -= bytes;
        busyNanos += now - busyFrom;
        busyFrom = now;
        busyBytes += got;
        if (busyNanos >= SAMPLE_NANOS) {
            double seconds = busyNanos / 1e9;
            double sample = busyBytes / seconds;
            double old = rate;
            rate = old + (1 - Math.pow(2, -seconds)) * (sample - old);
            busyNanos = 0;
            busyBytes = 0;
        }
    }

    /** The second error within a minute marks the drive. */
    void failed(long now) {
        errors.increment();
        if (state == State.HEALTHY && lastErrorNanos != 0 && now - lastErrorNanos < 60_000_000_000L) {
            state = State.DEGRADED;
        }
        lastErrorNanos = now == 0 ? 1 : now;
    }

    void offline(long now) {
        state = State.OFFLINE;
        lastErrorNanos = now == 0 ? 1 : now;
    }

    /** A read came: the drive answers again, and after a minute without errors it is as good as any. */
    void answered(long now) {
        if (state == State.OFFLINE) {
            state = State.DEGRADED;
        } else if (state == State.DEGRADED && now - lastErrorNanos > 60_000_000_000L) {
            state = State.HEALTHY;
        }
    }

    @Override
    public String toString() {
        return "drive " + id + " (" + root + ")";
    }
}
