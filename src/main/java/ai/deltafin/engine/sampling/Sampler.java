package ai.deltafin.engine.sampling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses ids by the Gumbel-max rule: the id with the largest l/temperature + g(seed, position, id) among those that
 * top-k, top-p and min-p keep. A choice depends on the logits, the parameters, the seed, the position and the ids before
 * it, and on nothing else: not on drafts, caches, rows of a pass or the machine. For one thread.
 */
public final class Sampler {

    private final SamplingParams params;
    private final GumbelNoise noise;
    private float[] logits = {};
    private int[] counts = {};
    private long[] candidates = {};

    /** A sampler for one choice of one request. */
    public Sampler(SamplingParams params) {
        this.params = params;
        noise = new GumbelNoise(params.seed(), params.stream());
    }

    /** As {@link #choose(MemorySegment, int, int[], int, int, Constraint)} with nothing forbidden. */
    public int choose(MemorySegment row, int vocabulary, int[] tape, int generatedFrom, int length) {
        return choose(row, vocabulary, tape, generatedFrom, length, Constraint.NONE);
    }

    /**
     * The id at position {@code length} of the tape.
     *
     * @param row fp32 logits [vocabulary]
     * @param tape ids so far; those from {@code generatedFrom} to {@code length} count for the penalties
     * @param constraint what may come here
     */
    public int choose(
            MemorySegment row, int vocabulary, int[] tape, int generatedFrom, int length, Constraint constraint) {
        load(row, vocabulary, tape, generatedFrom, length);
        BitSet allowed = constraint.allowed();
        int best = best(vocabulary, allowed);
        if (params.greedy()) {
            return best;
        }
        int kept = candidates(vocabulary, allowed, logits[best]);
        if (params.topK() > 0 || params.topP() < 1) {
            Arrays.sort(candidates, 0, kept);
            kept = params.topK() > 0 ? Math.min(kept, params.topK()) : kept;
            kept = nucleus(kept, logits[best]);
        }
        return noisiest(kept, length);
    }

    /** Copies the row and applies bias and penalties, in fp64 and rounded once. */
    private void load(MemorySegment row, int vocabulary, int[] tape, int generatedFrom, int length) {
        if (logits.length != vocabulary) {
            logits = new float[vocabulary];
        }
        MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, logits, 0, vocabulary);
        if (!params.changesLogits()) {
            return;
        }
        if (counts.length != vocabulary) {
            counts = new int[vocabulary];
        }
        for (int i = generatedFrom; i < length; i++) {
            counts[tape[i]]++;
        }
        params.logitBias().forEach((id, bias) -> {
            if (id >= 0 && id < vocabulary) {
                logits[id] = (float) (logits[id] + bias - penalty(counts[id]));
            }
        });
        for (int i = generatedFrom; i < length; i++) {
            int id = tape[i];
            if (!params.logitBias().containsKey(id)) {
                logits[id] = (float) (logits[id] - penalty(counts[id]));
            }
            counts[id] = 0;
        }
    }

    private double penalty(int count) {
        return count == 0 ? 0 : params.frequencyPenalty() * count + params.presencePenalty();
    }

    private int best(int vocabulary, @Nullable BitSet allowed) {
        int best = -1;
        for (int id = next(allowed, 0); id >= 0 && id < vocabulary; id = next(allowed, id + 1)) {
            if (best < 0 || logits[id] > logits[best]) {
                best = id;
            }
        }
        if (best < 0) {
            throw new IllegalStateException("the constraint allows no id of the vocabulary");
        }
        return best;
    }

    private static int next(@Nullable BitSet allowed, int from) {
        return allowed == null ? from : allowed.nextSetBit(from);
    }

    /**
     * Gathers the ids that can win, keyed so that ascending order is (logit descending, id ascending). An id further
     * below the best than the noise spans cannot win, and is too small to change a rounded total.
     */
    private int candidates(int vocabulary, @Nullable BitSet allowed, float most) {
        if (candidates.length < vocabulary) {
            candidates = new long[vocabulary];
        }
        int count = 0;
        for (int id = next(allowed, 0); id >= 0 && id < vocabulary; id = next(allowed, id + 1)) {
            double below = ((double) logits[id] - most) / params.temperature();
            if (below >= -GumbelNoise.SPAN && (params.minP() == 0 || Fp64.exp(below) >= params.minP())) {
                candidates[count++] = key(logits[id], id);
            }
        }
        return count;
    }

    private static long key(float logit, int id) {
        int bits = Float.floatToRawIntBits(logit + 0f);
        int ascending = bits ^ (bits >> 31 & Integer.MAX_VALUE);
        return (long) ~ascending << 32 | id;
    }

    private static int id(long key) {
        return (int) key;
    }

    /** How many of the sorted candidates make the shortest prefix whose sum reaches topP of the total. */
    private int nucleus(int count, float most) {
        if (params.topP() >= 1) {
            return count;
        }
        double total = 0;
        for (int i = 0; i < count; i++) {
            total += probability(i, most);
        }
        double wanted = params.topP() * total;
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += probability(i, most);
            if (sum >= wanted) {
                return i + 1;
            }
        }
        return count;
    }

    private double probability(int candidate, float most) {
        return Fp64.exp(((double) logits[id(candidates[candidate])] - most) / params.temperature());
    }

    /** The largest noisy candidate, the lowest id on ties. Noise is evaluated only where it could still win. */
    private int noisiest(int count, long position) {
        int winner = -1;
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            int id = id(candidates[i]);
            double scaled = logits[id] / params.temperature();
            if (scaled + GumbelNoise.MOST < largest) {
                continue;
            }
            double noisy = scaled + noise.at(position, id);
            if (noisy > largest || (noisy == largest && id < winner)) {
                winner = id;
                largest = noisy;
            }
        }
        return winner;
    }

    /**
     * Log-probabilities from the logits of the last {@link #choose}, bias and penalties included.
     *
     * @param id the id to report
     * @param top how many of the most probable ids to report with it
     */
    public TokenLogprobs logprobs(int id, int top) {
        float most = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            most = Math.max(most, logit);
        }
        double total = 0;
        for (float logit : logits) {
            total += Fp64.exp((double) logit - most);
        }
        double normal = most + Fp64.log(total);
        List<TokenLogprobs> alternatives = new ArrayList<>();
        for (long key : mostProbable(Math.min(top, logits.length))) {
            alternatives.add(new TokenLogprobs(id(key), logits[id(key)] - normal, List.of()));
        }
        return new TokenLogprobs(id, logits[id] - normal, alternatives);
    }

    private long[] mostProbable(int count) {
        long[] best = new long[count];
        int found = 0;
        for (int id = 0; id < logits.length && count > 0; id++) {
            long key = key(logits[id], id);
            if (found == count && key >= best[count - 1]) {
                continue;
            }
            int at = found < count ? found++ : count - 1;
            for (; at > 0 && best[at - 1] > key; at--) {
                best[at] = best[at - 1];
            }
            best[at] = key;
        }
        return best;
    }
}
