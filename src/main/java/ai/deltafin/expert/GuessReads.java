package ai.deltafin.expert;

import ai.deltafin.io.DriveReader;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads guessed experts on a thread of its own while the decode thread computes. Slots are reserved, promoted and given
 * up by the decode thread; this thread only claims pieces, one at a time, and counts completions. It holds back while
 * any demanded piece waits for a drive and keeps at most two pieces a drive in flight (expert-streaming.md 3.3).
 */
final class GuessReads implements Runnable, PieceReader.Listener {
    private static final int PIECES_A_DRIVE = 2;
    private static final int QUEUE = 1024;
    private static final long LOOK_AGAIN_NANOS = 200_000L;
    private static final long IDLE_NANOS = 100_000_000L;

    private final Slots slots;
    private final ExpertCatalog catalog;
    private final DemandReads demand;
    private final PieceReader reads;
    private final LongSupplier clock;
    private final int[] inFlight; // [drives]
    private final Thread thread;
    private final AtomicLongArray offers =
            new AtomicLongArray(QUEUE); // slot 32 | generation 24; one writer, one reader
    private volatile long offered;
    private volatile long accepted;
    private volatile boolean closing;
    private volatile @Nullable Thread waiter;
    private volatile int stuck;

    GuessReads(DriveReader reader, Slots slots, ExpertCatalog catalog, LongSupplier clock, DemandReads demand) {
        this.slots = slots;
        this.catalog = catalog;
        this.demand = demand;
        this.clock = clock;
        this.reads = new PieceReader(reader, slots, catalog, clock, false, this);
        this.inFlight = new int[catalog.drives().length];
        this.thread = Thread.ofPlatform().name("deltafin-prefetch").daemon().unstarted(this);
    }

    void start() {
        thread.start();
    }

    /** Hands over a slot reserved for a guess; false if too many wait. Decode thread. */
    boolean offer(int slot) {
        long at = offered;
        if (at - accepted >= QUEUE) {
            return false;
        }
        offers.set((int) (at % QUEUE), (long) slot << 32 | slots.table.generation(slot));
        offered = at + 1;
        LockSupport.unpark(thread);
        return true;
    }

    /** Waits a little for a completion on this thread's side. Decode thread. */
    void await(long nanos) {
        waiter = Thread.currentThread();
        LockSupport.parkNanos(this, nanos);
        waiter = null;
    }

    @Override
    public void run() {
        while (!closing) {
            boolean held = fill();
            if (reads.inFlight() > 0) {
                reads.poll(true, IDLE_NANOS);
            } else {
                LockSupport.parkNanos(this, held ? LOOK_AGAIN_NANOS : IDLE_NANOS);
            }
        }
        stuck = reads.close(2_000_000_000L);
    }

    /** Starts what may be started; true if something must wait for room or for demand. */
    private boolean fill() {
        for (long at = accepted; at < offered; at = accepted) {
            long offer = offers.get((int) (at % QUEUE));
            int slot = (int) (offer >>> 32);
            int generation = (int) offer;
            int piece = slots.table.next(slot, generation);
            if (piece < 0 || piece >= slots.pieces(slot)) {
                accepted = at + 1; // all begun, promoted or given up
                continue;
            }
            int copy =
                    demand.waiting() || reads.full() ? -1 : freest(slots.table.key(slot), slots.holders(slot, piece));
            if (copy < 0) {
                return true;
            }
            if (slots.table.claim(slot, generation, piece)) {
                inFlight[catalog.copy(slots.table.key(slot), copy).drive().id()]++;
                reads.start(slot, piece, copy);
            }
        }
        return false;
    }

    private int freest(int key, int copies) {
        int best = -1;
        int least = PIECES_A_DRIVE;
        for (int rest = copies; rest != 0; rest &= rest - 1) {
            int copy = Integer.numberOfTrailingZeros(rest);
            Drive drive = catalog.copy(key, copy).drive();
            if (drive.usable() && inFlight[drive.id()] < least) {
                least = inFlight[drive.id()];
                best = copy;
            }
        }
        return best;
    }

    @Override
    public void done(int slot, int generation, int piece, int copy) {
        ended(slot, generation, copy, false);
    }

    @Override
    public void failed(int slot, int generation, int piece, int copy, int errno) {
        ended(slot, generation, copy, true);
    }

    private void ended(int slot, int generation, int copy, boolean failed) {
        // The slot cannot have a new tenant yet: this piece was one of those it waited for.
        inFlight[catalog.copy(slots.table.key(slot), copy).drive().id()]--;
        slots.table.pieceEnded(slot, generation, failed);
        Thread sleeper = waiter;
        if (sleeper != null) {
            LockSupport.unpark(sleeper);
        }
    }

    @Override
    public void late(int slot, int generation, int piece, int copy) {
        catalog.copy(slots.table.key(slot), copy).drive().offline(clock.getAsLong());
    }

    /** Ends the thread; returns how many of its reads never ended. */
    int close() {
        closing = true;
        LockSupport.unpark(thread);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        }
        return stuck;
    }
}
