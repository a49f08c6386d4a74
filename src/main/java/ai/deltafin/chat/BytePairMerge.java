package ai.deltafin.chat;

import com.knuddels.jtokkit.api.IntArrayList;
import java.util.Arrays;

/**
 * Byte pair encoding of one piece in n log n: a linked list of parts and a heap of candidate pairs, keyed by rank, then
 * by place. Takes the lowest rank, then the leftmost, always, as the reference does; a merge may uncover a pair of lower
 * rank than the last one. JTokkit's own method for long pieces is slower on runs and works rank by rank. Keeps its arrays
 * from piece to piece; for one thread.
 */
final class BytePairMerge {

    private final RankTable ranks;
    private byte[] text = {};

    /** Start of the part behind the one that starts at the index; {@code text.length} behind the last. */
    private int[] next = {};

    /** Start of the part before. */
    private int[] previous = {};

    /** Rank of the pair that starts at the index, or NONE: tells live heap entries from stale ones. */
    private int[] pairRank = {};

    private int[] hashes = {};

    /** Binary heap of {@code rank << 32 | start}. */
    private long[] heap = {};

    private int heapSize;

    BytePairMerge(RankTable ranks) {
        this.ranks = ranks;
    }

    /** Appends the ids of one piece. */
    void encode(byte[] piece, IntArrayList ids) {
        int whole = ranks.id(piece, 0, piece.length);
        if (whole != RankTable.NONE) {
            ids.add(whole);
        } else if (piece.length > 0) {
            begin(piece);
            mergeAll();
            for (int i = 0; i < text.length; i = next[i]) {
                ids.add(ranks.id(text, i, next[i], hashes));
            }
        }
    }

    private void begin(byte[] piece) {
        text = piece;
        if (next.length <= piece.length) {
            int size = Math.max(64, Integer.highestOneBit(piece.length) * 2) + 1;
            next = new int[size];
            previous = new int[size];
            pairRank = new int[size];
            hashes = new int[size];
            heap = new long[size];
        }
        RankTable.hashPrefixes(piece, hashes);
        for (int i = 0; i < piece.length; i++) {
            next[i] = i + 1;
            previous[i] = i - 1;
        }
        for (int i = 0; i < piece.length; i++) {
            offer(i);
        }
    }

    private void mergeAll() {
        while (heapSize > 0) {
            long lowest = poll();
            int start = (int) lowest;
            if (pairRank[start] == (int) (lowest >>> 32)) {
                merge(start);
            }
        }
    }

    private void merge(int start) {
        int gone = next[start];
        int end = next[gone];
        next[start] = end;
        if (end < text.length) {
            previous[end] = start;
        }
        pairRank[gone] = RankTable.NONE;
        offer(start);
        if (start > 0) {
            offer(previous[start]);
        }
    }

    /** Ranks the pair that starts here anew, and makes it a candidate if it is a token. */
    private void offer(int start) {
        int middle = next[start];
        int rank = middle >= text.length ? RankTable.NONE : ranks.id(text, start, next[middle], hashes);
        pairRank[start] = rank;
        if (rank != RankTable.NONE) {
            push(((long) rank << 32) | start);
        }
    }

    private void push(long entry) {
        if (heapSize == heap.length) {
            heap = Arrays.copyOf(heap, heap.length * 2);
        }
        int at = heapSize++;
        while (at > 0) {
            int parent = (at - 1) / 2;
            if (heap[parent] <= entry) {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = entry;
    }

    private long poll() {
        long lowest = heap[0];
        long last = heap[--heapSize];
        int at = 0;
        for (int child; (child = 2 * at + 1) < heapSize; at = child) {
            if (child + 1 < heapSize && heap[child + 1] < heap[child]) {
                child++;
            }
            if (heap[child] >= last) {
                break;
            }
            heap[at] = heap[child];
        }
        heap[at] = last;
        return lowest;
    }
}
