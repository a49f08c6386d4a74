package ai.deltafin.expert;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which expert is in which slot, which slots are free, and which hold guesses. Decode thread only; the slots' own states
 * change under it as reads complete.
 */
final class SlotStore {
    private static final int NONE = -1;

    private final ExpertGeometry geometry;
    private final Slots slots;
    private final int[] index; // [keys]: slot or NONE
    private final int[] free;
    private int freeCount;
    private final int[] draining; // given up, completions outstanding
    private int drainingCount;
    private final int[] guesses; // slots reserved for guesses and not yet adopted
    private int guessCount;
    private final int guessLimit;

    /** All slots free; guesses may hold {@code guessLimit} of them. */
    SlotStore(ExpertGeometry geometry, Slots slots, int guessLimit) {
        this.geometry = geometry;
        this.slots = slots;
        this.index = new int[geometry.keys()];
        Arrays.fill(index, NONE);
        this.free = new int[slots.count()];
        Arrays.setAll(free, i -> slots.count() - 1 - i);
        this.freeCount = slots.count();
        this.draining = new int[slots.count()];
        this.guesses = new int[slots.count()];
        this.guessLimit = guessLimit;
    }

    /** The slot of an expert, or -1. */
    int slot(int key) {
        return index[key];
    }

    /** Experts in RAM or on their way. */
    int occupied() {
        return slots.count() - freeCount - drainingCount;
    }

    int drainingCount() {
        return drainingCount;
    }

    int guessCount() {
        return guessCount;
    }

    /** Reserves a free slot for a demanded expert, or -1 if none is free now. */
    int reserve(int key) {
        if (freeCount == 0) {
            collectDrained();
        }
        if (freeCount == 0) {
            return NONE;
        }
        int slot = free[--freeCount];
        slots.reserve(slot, key, false);
        index[key] = slot;
        return slot;
    }

    /** Reserves a slot for a guess, or -1 where guesses have their share or nothing is free. */
    int reserveGuess(int key) {
        collectDrained();
        if (guessCount == guessLimit || freeCount == 0) {
            return NONE;
        }
        int slot = free[--freeCount];
        slots.reserve(slot, key, true);
        index[key] = slot;
        guesses[guessCount++] = slot;
        return slot;
    }

    int guess(int i) {
        return guesses[i];
    }

    /** The i-th guess is none any more: adopted by a demand or a candidate to stay. The last one takes its place. */
    void forgetGuess(int i) {
        guesses[i] = guesses[--guessCount];
    }

    /** Position of a slot among the guesses, or -1. */
    int guessIndex(int slot) {
        for (int i = 0; i < guessCount; i++) {
            if (guesses[i] == slot) {
                return i;
            }
        }
        return NONE;
    }

    /** Frees a slot that is READY or FAILED. */
    void free(int slot) {
        index[slots.table.key(slot)] = NONE;
        slots.table.free(slot);
        free[freeCount++] = slot;
    }

    /**
     * Gives up a slot whose read may be under way: it becomes free when its last completion has come. A read that is
     * done by now is left as it is.
     *
     * @param unclaimed pieces that will never be begun
     */
    void giveUp(int slot, int unclaimed) {
        int key = slots.table.key(slot);
        switch (slots.table.giveUp(slot, unclaimed)) {
            case FREE -> {
                index[key] = NONE;
                free[freeCount++] = slot;
            }
            case DRAINING -> {
                index[key] = NONE;
                draining[drainingCount++] = slot;
            }
            case FAILED -> free(slot);
            case READY, USED, READING -> {}
        }
    }

    private void collectDrained() {
        for (int i = drainingCount - 1; i >= 0; i--) {
            if (slots.table.state(draining[i]) == SlotTable.State.FREE) {
                free[freeCount++] = draining[i];
                draining[i] = draining[--drainingCount];
            }
        }
    }

    /** Whether slots = free + occupied + draining and the index names each occupied slot once; for tests. */
    @Nullable
    String inconsistency() {
        collectDrained();
        boolean[] named = new boolean[slots.count()];
        int occupied = 0;
        for (int key = 0; key < geometry.keys(); key++) {
            int slot = index[key];
            if (slot != NONE) {
                if (named[slot] || slots.table.key(slot) != key) {
                    return "slot " + slot + " is named twice or by the wrong expert " + key;
                }
                named[slot] = true;
                occupied++;
            }
        }
        return occupied == occupied() ? null : occupied + " slots are named, " + occupied() + " are occupied";
    }
}
