package ai.deltafin.expert;

import ai.deltafin.io.DriveReader;
import java.nio.file.Path;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Reads what a layer waits for: hands queued pieces to whichever drive will have them soonest, sends failed ones to the
 * next copy and tells when a slot is settled. Decode thread only.
 */
final class DemandReads implements PieceReader.Listener {
    /** Errors in a row after which a drive is taken for gone. */
    private static final int ERRORS_OFFLINE = 8;

    private final Slots slots;
    private final ExpertCatalog catalog;
    private final Drive[] drives;
    private final DemandQueue queue;
    private final PieceReader reads;
    private final LongSupplier clock;
    private final IntConsumer settled;
    private final IntConsumer late;
    private final int[] tried; // [slots][maxPieces]: copies that failed
    private final boolean[] retried; // [slots][maxPieces]
    private final int[] errorsInRow; // [drives]
    private final int[] lastErrno; // [slots]
    private final Path[] lastFile; // [slots]
    private volatile boolean waiting;

    /**
     * Takes over the decode thread's reader.
     *
     * @param settled told a slot that has become READY or FAILED
     * @param late told a slot of which a piece has passed its deadline
     */
    DemandReads(
            DriveReader reader,
            Slots slots,
            ExpertCatalog catalog,
            LongSupplier clock,
            IntConsumer settled,
            IntConsumer late) {
        this.slots = slots;
        this.catalog = catalog;
        this.drives = catalog.drives();
        int pieces = slots.count() * catalog.maxPieces();
        this.queue = new DemandQueue(pieces, drives.length);
        this.reads = new PieceReader(reader, slots, catalog, clock, true, this);
        this.clock = clock;
        this.settled = settled;
        this.late = late;
        this.tried = new int[pieces];
        this.retried = new boolean[pieces];
        this.errorsInRow = new int[drives.length];
        this.lastErrno = new int[slots.count()];
        this.lastFile = new Path[slots.count()];
    }

    /** Whether pieces wait for room in a drive's window: then guesses hold back. Any thread. */
    boolean waiting() {
        return waiting;
    }

    boolean idle() {
        return queue.isEmpty() && reads.inFlight() == 0;
    }

    int inFlight() {
        return reads.inFlight();
    }

    /** Queues the pieces of a slot from {@code first} on, which the caller has claimed. */
    void add(int slot, int first) {
        for (int p = first; p < slots.pieces(slot); p++) {
            int at = slot * catalog.maxPieces() + p;
            tried[at] = 0;
            retried[at] = false;
            enqueue(slot, p, slots.holders(slot, p));
        }
    }

    private void enqueue(int slot, int piece, int copies) {
        int key = slots.table.key(slot);
        int usable = 0;
        int all = 0;
        for (int rest = copies; rest != 0; rest &= rest - 1) {
            Drive drive = catalog.copy(key, Integer.numberOfTrailingZeros(rest)).drive();
            all |= 1 << drive.id();
            usable |= drive.usable() ? 1 << drive.id() : 0;
        }
        int length = slots.to(slot, piece) - slots.from(slot, piece);
        queue.add(slot, slots.table.generation(slot), piece, length, usable != 0 ? usable : all, copies);
    }

    /** Hands queued pieces to drives that have room; {@link #poll} starts them. */
    void fill() {
        while (!queue.isEmpty() && !reads.full()) {
            Drive best = null;
            long bestAt = -1;
            double bestFinish = Double.POSITIVE_INFINITY;
            for (Drive drive : drives) {
                long at = firstFor(drive);
                if (at >= 0 && drive.hasRoom(queue.bytes(at)) && !declines(drive, at)) {
                    double finish = (drive.outstanding() + queue.bytes(at)) / drive.rate();
                    if (finish < bestFinish) {
                        best = drive;
                        bestAt = at;
                        bestFinish = finish;
                    }
                }
            }
            if (best == null) {
                break;
            }
            int slot = queue.slot(bestAt);
            int piece = queue.piece(bestAt);
            int copy = copyOn(best, slots.table.key(slot), queue.copies(bestAt));
            queue.remove(bestAt);
            reads.start(slot, piece, copy);
        }
        waiting = !queue.isEmpty();
    }

    /** The first piece for a drive; pieces of slots that were given up are dropped on the way. */
    private long firstFor(Drive drive) {
        while (true) {
            long at = queue.first(drive.id());
            if (at < 0) {
                return -1;
            }
            int slot = queue.slot(at);
            int generation = queue.generation(at);
            if (slots.table.generation(slot) == generation && slots.table.state(slot) == SlotTable.State.READING) {
                return drive.usable() || !othersUsable(at) ? at : -1;
            }
            queue.remove(at);
            slots.table.pieceEnded(slot, generation, false);
        }
    }

    private boolean othersUsable(long at) {
        for (Drive drive : drives) {
            if (drive.usable() && (queue.drives(at) >>> drive.id() & 1) != 0) {
                return true;
            }
        }
        return false;
    }

    /** A drive leaves a piece to others who would have everything done sooner (expert-streaming.md 5.4). */
    private boolean declines(Drive drive, long at) {
        double allBytes = queue.queuedBytes();
        double allRates = 0;
        double best = 0;
        int holders = 0;
        for (Drive other : drives) {
            if (other.usable()) {
                allBytes += other.outstanding();
                allRates += other.rate();
                best = Math.max(best, other.rate());
                holders += queue.drives(at) >>> other.id() & 1;
            }
        }
        int bytes = queue.bytes(at);
        return holders > 1 && (drive.outstanding() + bytes) / drive.rate() > allBytes / allRates + bytes / best;
    }

    private int copyOn(Drive drive, int key, int copies) {
        for (int rest = copies; rest != 0; rest &= rest - 1) {
            int copy = Integer.numberOfTrailingZeros(rest);
            if (catalog.copy(key, copy).drive() == drive) {
                return copy;
            }
        }
        throw new IllegalStateException("no copy of key " + key + " on " + drive);
    }

    /** Starts what was filled and takes what has come; waits for one completion if {@code wait}. */
    void poll(boolean wait, long timeoutNanos) {
        reads.poll(wait, timeoutNanos);
        fill();
    }

    @Override
    public void done(int slot, int generation, int piece, int copy) {
        if (slots.table.generation(slot) == generation) {
            Drive drive = catalog.copy(slots.table.key(slot), copy).drive();
            errorsInRow[drive.id()] = 0;
            drive.answered(clock.getAsLong());
        }
        end(slot, generation, false);
    }

    private void end(int slot, int generation, boolean failed) {
        SlotTable.State state = slots.table.pieceEnded(slot, generation, failed);
        if (state == SlotTable.State.READY || state == SlotTable.State.FAILED) {
            settled.accept(slot);
        }
    }

    @Override
    public void failed(int slot, int generation, int piece, int copy, int errno) {
        int key = slots.table.key(slot);
        if (slots.table.generation(slot) != generation || slots.table.state(slot) != SlotTable.State.READING) {
            end(slot, generation, true);
            return;
        }
        Copy source = catalog.copy(key, copy);
        Drive drive = source.drive();
        int at = slot * catalog.maxPieces() + piece;
        lastErrno[slot] = errno;
        lastFile[slot] = source.file(catalog.images().geometry().expert(key), slots.from(slot, piece))
                .path();
        tried[at] |= 1 << copy;
        if (errno == ai.deltafin.io.Errno.ENODEV || ++errorsInRow[drive.id()] >= ERRORS_OFFLINE) {
            drive.offline(clock.getAsLong());
        }
        int rest = slots.holders(slot, piece) & ~tried[at];
        if (rest != 0) {
            enqueue(slot, piece, rest);
        } else if (!retried[at] && errno != PieceReader.TRUNCATED) {
            retried[at] = true;
            enqueue(slot, piece, 1 << copy);
        } else {
            end(slot, generation, true);
        }
    }

    @Override
    public void late(int slot, int generation, int piece, int copy) {
        int key = slots.table.key(slot);
        if (slots.table.generation(slot) == generation) {
            Copy source = catalog.copy(key, copy);
            source.drive().offline(clock.getAsLong());
            lastErrno[slot] = 0;
            lastFile[slot] = source.file(catalog.images().geometry().expert(key), slots.from(slot, piece))
                    .path();
            late.accept(slot);
        }
    }

    /** Why the last piece of a slot failed, naming file and drive. */
    ExpertReadException failure(int slot, int key) {
        ExpertGeometry g = catalog.images().geometry();
        String problem = lastErrno[slot] == 0 ? "the drive does not answer" : PieceReader.text(lastErrno[slot]);
        return new ExpertReadException(g.layer(key), g.expert(key), lastFile[slot], problem);
    }

    /** An MXFP4 scale that is no number: the file is damaged. */
    ExpertReadException badScale(int key) {
        ExpertGeometry g = catalog.images().geometry();
        Path file = catalog.copy(key, 0).file(g.expert(key), 0).path();
        return new ExpertReadException(
                g.layer(key),
                g.expert(key),
                file,
                "a scale byte is 255 (not a number): the file is damaged, verify it");
    }

    /** Whether some drive that answers holds a piece of a slot. */
    boolean usable(int slot, int piece) {
        for (int rest = slots.holders(slot, piece); rest != 0; rest &= rest - 1) {
            if (catalog.copy(slots.table.key(slot), Integer.numberOfTrailingZeros(rest))
                    .drive()
                    .usable()) {
                return true;
            }
        }
        return false;
    }

    int close(long timeoutNanos) {
        return reads.close(timeoutNanos);
    }
}
