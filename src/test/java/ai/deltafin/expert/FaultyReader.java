package ai.deltafin.expert;

import ai.deltafin.io.DriveFile;
import ai.deltafin.io.DriveReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A reader around another that misbehaves by a script and hands completions over in random order. A fault looks at one
 * read and may answer with an error, a shorter length, or {@link #NEVER}; 0 leaves the read alone.
 */
final class FaultyReader implements DriveReader {
    static final long NEVER = Long.MIN_VALUE;

    /** What shall become of a read: -errno, a length shorter than asked, {@link #NEVER}, or 0. */
    interface Fault {
        long of(DriveFile file, long offset, int length);
    }

    private record Answer(long tag, long result) {}

    private final DriveReader inner;
    private final Fault fault;
    private final Random random;
    private final List<Answer> held = new ArrayList<>();
    private final List<Answer> answers = new ArrayList<>();
    private int hung;

    FaultyReader(DriveReader inner, Fault fault, long seed) {
        this.inner = inner;
        this.fault = fault;
        this.random = new Random(seed);
    }

    @Override
    public String name() {
        return "faulty " + inner.name();
    }

    @Override
    public int capacity() {
        return inner.capacity();
    }

    @Override
    public int inFlight() {
        return inner.inFlight() + held.size() + hung;
    }

    @Override
    public void read(DriveFile file, long address, int length, long offset, long tag) {
        long answer = fault.of(file, offset, length);
        if (answer == NEVER) {
            hung++;
        } else if (answer < 0) {
            held.add(new Answer(tag, answer));
        } else {
            inner.read(file, address, answer == 0 ? length : (int) Math.min(answer, length), offset, tag);
        }
    }

    @Override
    public int await(int wait, long timeoutNanos) {
        boolean mayWait = wait > 0 && held.isEmpty();
        if (mayWait && inner.inFlight() == 0 && hung > 0) {
            java.util.concurrent.locks.LockSupport.parkNanos(Math.min(timeoutNanos, 1_000_000));
        }
        int n = inner.await(mayWait ? 1 : 0, timeoutNanos);
        for (int i = 0; i < n; i++) {
            held.add(new Answer(inner.tag(i), inner.result(i)));
        }
        answers.clear();
        int give = held.isEmpty() ? 0 : 1 + random.nextInt(held.size());
        for (int i = 0; i < give; i++) {
            answers.add(held.remove(random.nextInt(held.size())));
        }
        return give;
    }

    @Override
    public long tag(int i) {
        return answers.get(i).tag();
    }

    @Override
    public long result(int i) {
        return answers.get(i).result();
    }

    @Override
    public int close(long timeoutNanos) {
        return inner.close(timeoutNanos) + hung;
    }
}
