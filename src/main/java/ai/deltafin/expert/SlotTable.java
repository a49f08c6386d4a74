package ai.deltafin.expert;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The state of every slot, one 64-bit word each, changed by compare-and-set (expert-streaming.md 3.2):
 * generation 24 | key 17 | state 3 | class 1 | error 1 | users 10 | pieces left 8.
 *
 * <p>The decode thread alone takes slots from FREE and gives them back; whichever thread collects a read's completion
 * counts it here. A completion is matched by (slot, generation), so a late one never touches a slot's next tenant.
 * Beside the word stands a cursor: the next piece of a guess that nobody has claimed, so that the decode thread can
 * take over what the prefetch thread has not begun.
 */
final class SlotTable {
    enum State {
        FREE(0),
        READING(1),
        READY(2),
        USED(3),
        DRAINING(4),
        FAILED(5);

        private final long bits;

        State(long code) {
            this.bits = code << STATE_SHIFT;
        }
    }

    private static final State[] STATES = State.values();
    static final int MAX_PIECES = 255;

    private static final int LEFT_BITS = 8;
    private static final int USERS_SHIFT = LEFT_BITS;
    private static final int ERROR_SHIFT = 18;
    private static final int CLASS_SHIFT = 19;
    private static final int STATE_SHIFT = 20;
    private static final int KEY_SHIFT = 23;
    private static final int GENERATION_SHIFT = 40;
    private static final long LEFT_MASK = 0xFF;
    private static final long STATE_MASK = 7L << STATE_SHIFT;
    private static final long USERS_MASK = 0x3FFL << USERS_SHIFT;
    private static final int GENERATIONS = 1 << 24;

    private final AtomicLongArray words;
    private final AtomicIntegerArray cursors; // generation 24 | next piece 8

    SlotTable(int slots) {
        words = new AtomicLongArray(slots);
        cursors = new AtomicIntegerArray(slots);
    }

    int slots() {
        return words.length();
    }

    State state(int slot) {
        return state(words.get(slot));
    }

    int generation(int slot) {
        return generation(words.get(slot));
    }

    int key(int slot) {
        return (int) (words.get(slot) >>> KEY_SHIFT) & 0x1FFFF;
    }

    boolean guess(int slot) {
        return (words.get(slot) >>> CLASS_SHIFT & 1) != 0;
    }

    int left(int slot) {
        return (int) (words.get(slot) & LEFT_MASK);
    }

    private static State state(long word) {
        return STATES[(int) ((word & STATE_MASK) >>> STATE_SHIFT)];
    }

    private static int generation(long word) {
        return (int) (word >>> GENERATION_SHIFT);
    }

    private static long with(long word, State state) {
        return (word & ~STATE_MASK) | state.bits;
    }

    private static long freed(long word) {
        return (long) ((generation(word) + 1) & (GENERATIONS - 1)) << GENERATION_SHIFT;
    }

    /** FREE → READING. A demand's pieces are all claimed at once; a guess's wait for {@link #claim}. */
    void reserve(int slot, int key, boolean guess, int pieces) {
        long word = words.get(slot);
        expect(word, slot, State.FREE);
        long next = (word & -(1L << GENERATION_SHIFT))
                | (long) key << KEY_SHIFT
                | State.READING.bits
                | (guess ? 1L << CLASS_SHIFT : 0)
                | pieces;
        cursors.set(slot, cursor(generation(word), guess ? 0 : pieces));
        words.set(slot, next);
    }

    private static int cursor(int generation, int piece) {
        return generation << 8 | piece;
    }

    /** The next unclaimed piece of a guess; -1 if the slot has moved on. */
    int next(int slot, int generation) {
        int at = cursors.get(slot);
        return at >>> 8 == generation ? at & 0xFF : -1;
    }

    /** Makes one piece of a guess the caller's to read; false if another thread was first. */
    boolean claim(int slot, int generation, int piece) {
        return cursors.compareAndSet(slot, cursor(generation, piece), cursor(generation, piece + 1));
    }

    /** Takes all unclaimed pieces of a slot at once: the first of them, or {@code pieces} if none is left. */
    int claimRest(int slot, int pieces) {
        while (true) {
            int at = cursors.get(slot);
            if ((at & 0xFF) >= pieces || cursors.compareAndSet(slot, at, cursor(at >>> 8, pieces))) {
                return at & 0xFF;
            }
        }
    }

    /** A guess that a real route wants: READING guess → READING demand. The state tells the caller what it has become. */
    State promote(int slot) {
        while (true) {
            long word = words.get(slot);
            if (words.compareAndSet(slot, word, word & ~(1L << CLASS_SHIFT))) {
                return state(word);
            }
        }
    }

    /**
     * One piece is no longer outstanding: it has come, or it failed for good. The last one makes the slot READY,
     * FAILED, or, if it was given up, FREE.
     *
     * @return the state afterwards; null if the slot has another tenant by now
     */
    @org.jspecify.annotations.Nullable
    State pieceEnded(int slot, int generation, boolean failed) {
        while (true) {
            long word = words.get(slot);
            if (generation(word) != generation || (word & LEFT_MASK) == 0) {
                return null;
            }
            long next = word - 1;
            if (failed) {
                next |= 1L << ERROR_SHIFT;
            }
            if ((next & LEFT_MASK) == 0) {
                if (state(word) == State.DRAINING) {
                    next = freed(word);
                } else {
                    next = with(next, (next >>> ERROR_SHIFT & 1) != 0 ? State.FAILED : State.READY);
                }
            }
            if (words.compareAndSet(slot, word, next)) {
                return state(next);
            }
        }
    }

    /**
     * Gives up a slot whose read is under way; {@code unclaimed} pieces will never be begun.
     *
     * @return the state afterwards: DRAINING, FREE, or what the read has become meanwhile (READY, FAILED)
     */
    State giveUp(int slot, int unclaimed) {
        while (true) {
            long word = words.get(slot);
            if (state(word) != State.READING) {
                return state(word);
            }
            long next = with(word - unclaimed, State.DRAINING);
            if ((next & LEFT_MASK) == 0) {
                next = freed(word);
            }
            if (words.compareAndSet(slot, word, next)) {
                return state(next);
            }
        }
    }

    /** READY → USED. */
    void use(int slot) {
        long word = words.get(slot);
        expect(word, slot, State.READY);
        words.set(slot, with(word & ~USERS_MASK, State.USED) | 1L << USERS_SHIFT);
    }

    /** USED → READY. */
    void release(int slot) {
        long word = words.get(slot);
        expect(word, slot, State.USED);
        words.set(slot, with(word & ~USERS_MASK, State.READY));
    }

    /** READY or FAILED → FREE. */
    void free(int slot) {
        long word = words.get(slot);
        if (state(word) != State.READY && state(word) != State.FAILED) {
            throw new IllegalStateException("slot " + slot + " is " + state(word) + " and cannot be freed");
        }
        words.set(slot, freed(word));
    }

    private static void expect(long word, int slot, State wanted) {
        if (state(word) != wanted) {
            throw new IllegalStateException("slot " + slot + " is " + state(word) + ", not " + wanted);
        }
    }
}
