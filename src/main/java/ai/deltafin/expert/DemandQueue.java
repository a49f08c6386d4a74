package ai.deltafin.expert;

import java.util.Arrays;

/**
 * Pieces that layers wait for and no drive has begun: one queue from which drives pull what they hold, in the order of
 * the route (expert-streaming.md 5.4). Each drive scans from its own mark, so a slow drive's pieces at the head cost
 * the others nothing. Decode thread only.
 */
final class DemandQueue {
    private final int mask;
    private final int[] slot; // -1 = taken
    private final int[] generation;
    private final int[] piece;
    private final int[] bytes;
    private final int[] drives; // bit a drive that may serve it
    private final int[] copies; // bit a copy that may serve it
    private final long[] marks; // per drive: nothing for it before this position
    private long head;
    private long tail;
    private long queuedBytes;

    /** An empty queue for at most {@code capacity} pieces. */
    DemandQueue(int capacity, int drives) {
        int size = Integer.highestOneBit(Math.max(capacity, 1)) * 2;
        this.mask = size - 1;
        this.slot = new int[size];
        this.generation = new int[size];
        this.piece = new int[size];
        this.bytes = new int[size];
        this.drives = new int[size];
        this.copies = new int[size];
        this.marks = new long[drives];
    }

    boolean isEmpty() {
        return head == tail;
    }

    long queuedBytes() {
        return queuedBytes;
    }

    void add(int inSlot, int ofGeneration, int pieceNumber, int length, int driveMask, int copyMask) {
        if (tail - head > mask) {
            throw new IllegalStateException("more than " + (mask + 1) + " pieces queued");
        }
        int at = (int) tail++ & mask;
        slot[at] = inSlot;
        generation[at] = ofGeneration;
        piece[at] = pieceNumber;
        bytes[at] = length;
        drives[at] = driveMask;
        copies[at] = copyMask;
        queuedBytes += length;
    }

    /** Position of the first piece that a drive may serve, or -1. */
    long first(int drive) {
        long at = Math.max(marks[drive], head);
        while (at < tail && (slot[(int) at & mask] < 0 || (drives[(int) at & mask] >>> drive & 1) == 0)) {
            at++;
        }
        marks[drive] = at;
        return at < tail ? at : -1;
    }

    int slot(long at) {
        return slot[(int) at & mask];
    }

    int generation(long at) {
        return generation[(int) at & mask];
    }

    int piece(long at) {
        return piece[(int) at & mask];
    }

    int bytes(long at) {
        return bytes[(int) at & mask];
    }

    int drives(long at) {
        return drives[(int) at & mask];
    }

    int copies(long at) {
        return copies[(int) at & mask];
    }

    void remove(long at) {
        queuedBytes -= bytes(at);
        slot[(int) at & mask] = -1;
        while (head < tail && slot[(int) head & mask] < 0) {
            head++;
        }
    }

    long head() {
        return head;
    }

    long tail() {
        return tail;
    }

    /** Whether the piece at a position still waits. */
    boolean waits(long at) {
        return slot[(int) at & mask] >= 0;
    }

    /** Looks at every piece again for a drive that has come back. */
    void rescan() {
        Arrays.fill(marks, head);
    }
}
