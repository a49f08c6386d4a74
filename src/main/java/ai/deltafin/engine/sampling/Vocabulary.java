package ai.deltafin.engine.sampling;

import java.util.Arrays;
import java.util.BitSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The byte strings of all ordinary ids, in an order that lets an automaton read each shared beginning once. Immutable;
 * one for a tokenizer, shared by all its constraints.
 */
public final class Vocabulary {

    private final byte[] bytes;
    private final int[] offsets;
    private final int[] sorted;

    /** Bytes that the id at a place of {@link #sorted} shares with the one before it. */
    private final int[] shared;

    private final int longest;

    /**
     * A vocabulary.
     *
     * @param ordinary ids 0 to {@code ordinary - 1} are text; control ids are not
     * @param bytesOf the bytes of an ordinary id, 1 or more
     */
    public Vocabulary(int ordinary, IntFunction<byte[]> bytesOf) {
        byte[][] all = IntStream.range(0, ordinary).mapToObj(bytesOf).toArray(byte[][]::new);
        offsets = new int[ordinary + 1];
        for (int id = 0; id < ordinary; id++) {
            offsets[id + 1] = offsets[id] + all[id].length;
        }
        bytes = new byte[offsets[ordinary]];
        for (int id = 0; id < ordinary; id++) {
            System.arraycopy(all[id], 0, bytes, offsets[id], all[id].length);
        }
        sorted = IntStream.range(0, ordinary)
                .boxed()
                .sorted((a, b) -> Arrays.compareUnsigned(all[a], all[b]))
                .mapToInt(Integer::intValue)
                .toArray();
        shared = new int[ordinary];
        for (int i = 1; i < ordinary; i++) {
            int mismatch = Arrays.mismatch(all[sorted[i - 1]], all[sorted[i]]);
            shared[i] = mismatch < 0 ? all[sorted[i]].length : mismatch;
        }
        longest = Arrays.stream(all).mapToInt(b -> b.length).max().orElse(0);
    }

    /** Whether an id is text. */
    boolean isText(int id) {
        return id >= 0 && id < sorted.length;
    }

    /** Where an automaton gets to from a state by a text id; null if it cannot. */
    Automaton.@org.jspecify.annotations.Nullable State walk(Automaton automaton, Automaton.State from, int id) {
        Automaton.State state = from;
        for (int i = offsets[id]; i < offsets[id + 1] && state != null; i++) {
            state = automaton.step(state, bytes[i] & 0xFF);
        }
        return state;
    }

    /** Sets every text id whose bytes an automaton accepts from a state. */
    void mask(Automaton automaton, Automaton.State from, BitSet into) {
        Automaton.State[] path = new Automaton.State[longest + 1];
        path[0] = from;
        int reached = 0;
        for (int i = 0; i < sorted.length; i++) {
            if (shared[i] > reached) {
                continue; // it begins with the bytes at which the one before was stuck
            }
            int id = sorted[i];
            int length = offsets[id + 1] - offsets[id];
            reached = shared[i];
            while (reached < length) {
                Automaton.State next = automaton.step(path[reached], bytes[offsets[id] + reached] & 0xFF);
                if (next == null) {
                    break;
                }
                path[++reached] = next;
            }
            if (reached == length) {
                into.set(id);
            }
        }
    }
}
