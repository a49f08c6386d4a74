package ai.deltafin.expert;

import ai.deltafin.io.DriveFile;
import ai.deltafin.io.DriveReader;
import ai.deltafin.io.Errno;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Reads pieces of expert images and finishes what drives leave half done: short reads go on at the last whole block,
 * a read without progress is a truncated file, and one that does not end in time is reported as late. One thread uses
 * it; each reading thread has its own.
 */
final class PieceReader {
    /** What becomes of started pieces. */
    interface Listener {
        void done(int slot, int generation, int piece, int copy);

        /** No way to finish this read; {@code errno} of the system, or {@link #TRUNCATED}. */
        void failed(int slot, int generation, int piece, int copy, int errno);

        /** The read has passed its deadline and still owns its memory; {@code done} or {@code failed} may yet come. */
        void late(int slot, int generation, int piece, int copy);
    }

    static final int TRUNCATED = -1;
    private static final long MIN_DEADLINE_NANOS = 5_000_000_000L;
    private static final long CHECK_NANOS = 100_000_000L;

    private final DriveReader reader;
    private final Slots slots;
    private final ExpertCatalog catalog;
    private final LongSupplier clock;
    private final Listener listener;
    private final boolean measures;
    private final int alignment;

    // One entry a read in flight; its index is the read's tag.
    private final int[] slot;
    private final int[] generation;
    private final int[] piece;
    private final int[] copy;
    private final int[] key;
    private final int[] from; // next image byte to read
    private final int[] to;
    private final long[] deadline; // 0 = told late already
    private final int[] freeTags;
    private int freeCount;
    private long nextCheck;

    /** Takes over a reader; {@code measures}: whether completions feed the drives' rates, as the decode thread's do. */
    PieceReader(
            DriveReader reader,
            Slots slots,
            ExpertCatalog catalog,
            LongSupplier clock,
            boolean measures,
            Listener listener) {
        this.reader = reader;
        this.slots = slots;
        this.catalog = catalog;
        this.clock = clock;
        this.measures = measures;
        this.listener = listener;
        this.alignment = catalog.images().alignment();
        int n = reader.capacity();
        slot = new int[n];
        generation = new int[n];
        piece = new int[n];
        copy = new int[n];
        key = new int[n];
        from = new int[n];
        to = new int[n];
        deadline = new long[n];
        freeTags = new int[n];
        Arrays.setAll(freeTags, i -> n - 1 - i);
        freeCount = n;
    }

    boolean full() {
        return freeCount == 0;
    }

    int inFlight() {
        return reader.inFlight();
    }

    /** Queues a claimed piece; {@link #poll} starts it. */
    void start(int inSlot, int pieceNumber, int copyIndex) {
        int tag = freeTags[--freeCount];
        slot[tag] = inSlot;
        generation[tag] = slots.table.generation(inSlot);
        key[tag] = slots.table.key(inSlot);
        piece[tag] = pieceNumber;
        copy[tag] = copyIndex;
        from[tag] = slots.from(inSlot, pieceNumber);
        to[tag] = slots.to(inSlot, pieceNumber);
        Drive drive = catalog.copy(key[tag], copyIndex).drive();
        long now = clock.getAsLong();
        if (measures) {
            drive.began(to[tag] - from[tag], now);
        }
        long queued = drive.outstanding() + to[tag] - from[tag];
        deadline[tag] = now + Math.max(MIN_DEADLINE_NANOS, (long) (1e10 * queued / Math.max(drive.rate(), 1e6)));
        submit(tag);
    }

    private void submit(int tag) {
        Copy source = catalog.copy(key[tag], copy[tag]);
        int expert = catalog.images().geometry().expert(key[tag]);
        DriveFile file = source.file(expert, from[tag]);
        reader.read(
                file, slots.address(slot[tag]) + from[tag], to[tag] - from[tag], source.offset(expert, from[tag]), tag);
    }

    /**
     * Starts queued reads, waits for at least one completion if {@code wait}, and tells the listener of all there are.
     */
    void poll(boolean wait, long timeoutNanos) {
        int n = reader.await(wait ? 1 : 0, Math.min(timeoutNanos, CHECK_NANOS));
        long now = clock.getAsLong();
        for (int i = 0; i < n; i++) {
            ended((int) reader.tag(i), reader.result(i), now);
        }
        if (now >= nextCheck) {
            nextCheck = now + CHECK_NANOS;
            tellLate(now);
        }
    }

    private void ended(int tag, long result, long now) {
        Copy source = catalog.copy(key[tag], copy[tag]);
        int length = to[tag] - from[tag];
        if (result > 0) {
            source.drive().readBytes.add(result);
            int expert = catalog.images().geometry().expert(key[tag]);
            long left = source.file(expert, from[tag]).size() - source.offset(expert, from[tag]);
            int blocks = (int) (result / alignment * alignment);
            if (result < Math.min(length, left)) {
                result = blocks;
                if (blocks > 0) {
                    if (measures) {
                        source.drive().ended(blocks, blocks, now);
                    }
                    from[tag] += blocks;
                    submit(tag);
                    return;
                }
            }
        }
        if (measures) {
            source.drive().ended(length, Math.max(result, 0), now);
        }
        freeTags[freeCount++] = tag;
        if (result > 0) {
            listener.done(slot[tag], generation[tag], piece[tag], copy[tag]);
        } else {
            source.drive().failed(now);
            int errno = result == 0 ? TRUNCATED : (int) -result;
            listener.failed(slot[tag], generation[tag], piece[tag], copy[tag], errno);
        }
    }

    private void tellLate(long now) {
        if (reader.inFlight() == 0) {
            return;
        }
        for (int tag = 0; tag < deadline.length; tag++) {
            if (deadline[tag] != 0 && deadline[tag] < now && busy(tag)) {
                deadline[tag] = 0;
                listener.late(slot[tag], generation[tag], piece[tag], copy[tag]);
            }
        }
    }

    private boolean busy(int tag) {
        for (int i = 0; i < freeCount; i++) {
            if (freeTags[i] == tag) {
                return false;
            }
        }
        return true;
    }

    /** What a failure means, for people. */
    static String text(int errno) {
        return errno == TRUNCATED ? "the file ends too early" : Errno.text(errno);
    }

    /** Waits for reads under way and frees the reader; returns how many never ended. */
    int close(long timeoutNanos) {
        return reader.close(timeoutNanos);
    }
}
