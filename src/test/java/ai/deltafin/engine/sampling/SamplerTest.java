package ai.deltafin.engine.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The choice against a plain transcription of its definition, and its limits by hand. */
class SamplerTest {

    private static final int[] NO_TAPE = {};

    private static MemorySegment row(float... logits) {
        return MemorySegment.ofArray(logits);
    }

    private static int choose(SamplingParams params, float... logits) {
        return new Sampler(params).choose(row(logits), logits.length, NO_TAPE, 0, 0);
    }

    private static SamplingParams withBias(double temperature, Map<Integer, Double> bias) {
        return new SamplingParams(temperature, 1, 0, 0, 0, 0, bias, 5, 0);
    }

    /** Steps 1 to 6 as the definition writes them: sort everything, evaluate all noise. */
    private static int byDefinition(SamplingParams p, float[] logits, long position) {
        Integer[] order = IntStream.range(0, logits.length).boxed().toArray(Integer[]::new);
        Arrays.sort(order, (a, b) -> logits[a] != logits[b] ? Float.compare(logits[b], logits[a]) : a - b);
        int kept = p.topK() > 0 ? Math.min(p.topK(), order.length) : order.length;
        double most = logits[order[0]];
        double total = 0;
        for (int i = 0; i < kept; i++) {
            total += Fp64.exp((logits[order[i]] - most) / p.temperature());
        }
        int nucleus = 0;
        for (double sum = 0; nucleus < kept && (nucleus == 0 || sum < p.topP() * total); nucleus++) {
            sum += Fp64.exp((logits[order[nucleus]] - most) / p.temperature());
        }
        kept = p.topP() < 1 ? nucleus : kept;
        GumbelNoise noise = new GumbelNoise(p.seed(), p.stream());
        int winner = -1;
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < kept; i++) {
            int id = order[i];
            double key = logits[id] / p.temperature() + noise.at(position, id);
            if (Fp64.exp((logits[id] - most) / p.temperature()) >= p.minP()
                    && (key > largest || (key == largest && id < winner))) {
                winner = id;
                largest = key;
            }
        }
        return winner;
    }

    @Property(tries = 400)
    void agreesWithTheDefinition(
            @ForAll long seed,
            @ForAll @IntRange(min = 0, max = 5) int k,
            @ForAll @IntRange(min = 0, max = 3) int shape) {
        Random random = new Random(seed);
        float[] logits = new float[300];
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) (random.nextGaussian() * (shape == 0 ? 20 : shape));
            if (shape == 3) {
                logits[i] = Math.round(logits[i]); // many ties
            }
        }
        double temperature = 0.1 + 2 * random.nextDouble();
        double topP = random.nextBoolean() ? 1 : random.nextDouble();
        double minP = random.nextBoolean() ? 0 : random.nextDouble() / 4;
        // min-p cuts after top-p in the definition only where both are asked; both cuts are prefixes, so order is free
        SamplingParams params = new SamplingParams(temperature, minP > 0 ? 1 : topP, k, minP, seed);
        Sampler sampler = new Sampler(params);
        for (int position = 0; position < 5; position++) {
            int chosen = sampler.choose(row(logits), logits.length, new int[position], position, position);
            assertThat(chosen).isEqualTo(byDefinition(params, logits, position));
        }
    }

    @Test
    void greedyTakesTheLowestIdOnTies() {
        assertThat(choose(SamplingParams.GREEDY, 1, 3, 3, 2)).isEqualTo(1);
    }

    @Test
    void frequenciesFollowTheSoftmax() {
        float[] logits = {1, 0, 2, -1};
        double temperature = 0.7;
        Sampler sampler = new Sampler(new SamplingParams(temperature, 1, 0, 0, 99));
        int[] seen = new int[4];
        int draws = 40_000;
        for (int position = 0; position < draws; position++) {
            seen[sampler.choose(row(logits), 4, NO_TAPE, position, position)]++;
        }
        double total = 0;
        for (float logit : logits) {
            total += Math.exp(logit / temperature);
        }
        for (int id = 0; id < 4; id++) {
            double p = Math.exp(logits[id] / temperature) / total;
            assertThat(seen[id] / (double) draws).isCloseTo(p, within(5 * Math.sqrt(p * (1 - p) / draws)));
        }
    }

    @Test
    void sameSeedSamePlaceSameIdAndAnotherSeedAnotherText() {
        float[] logits = new float[1000];
        int[] first = run(7, logits);
        assertThat(run(7, logits)).isEqualTo(first);
        assertThat(run(8, logits)).isNotEqualTo(first);
    }

    private static int[] run(long seed, float[] logits) {
        Sampler sampler = new Sampler(new SamplingParams(1, 1, 0, 0, seed));
        return IntStream.range(0, 20)
                .map(i -> sampler.choose(row(logits), logits.length, NO_TAPE, i, i))
                .toArray();
    }

    @Test
    void topKOfOneAndTinyTopPAreGreedy() {
        float[] logits = {0.5f, 0.7f, 0.6f};
        for (int seed = 0; seed < 50; seed++) {
            assertThat(choose(new SamplingParams(2, 1, 1, 0, seed), logits)).isEqualTo(1);
            assertThat(choose(new SamplingParams(2, 0, 0, 0, seed), logits)).isEqualTo(1);
            assertThat(choose(new SamplingParams(2, 1, 0, 1, seed), logits)).isEqualTo(1);
        }
    }

    @Test
    void biasAndPenaltiesMoveTheChoice() {
        assertThat(choose(withBias(0, Map.of(2, 10.0)), 1, 3, 0)).isEqualTo(2);
        assertThat(choose(withBias(0, Map.of(1, -100.0)), 1, 3, 0)).isZero();
        SamplingParams frequency = new SamplingParams(0, 1, 0, 0, 0.6, 0, Map.of(), 0, 0);
        Sampler sampler = new Sampler(frequency);
        int[] tape = {1, 1, 1, 1};
        assertThat(sampler.choose(row(1, 3), 2, tape, 0, 3)).isEqualTo(1); // 3 - 1.8 = 1.2
        assertThat(sampler.choose(row(1, 3), 2, tape, 0, 4)).isZero(); // 3 - 2.4 = 0.6
        assertThat(sampler.choose(row(1, 3), 2, tape, 2, 4)).isEqualTo(1); // the prompt does not count
        SamplingParams presence = new SamplingParams(0, 1, 0, 0, 0, 2.5, Map.of(1, 0.4), 0, 0);
        assertThat(new Sampler(presence).choose(row(1, 3), 2, tape, 0, 1)).isZero(); // 3 + 0.4 - 2.5 = 0.9
    }

    @Test
    void aConstraintRemovesIdsBeforeAnythingElse() {
        BitSet set = new BitSet();
        set.set(0);
        set.set(2);
        Constraint only = new Constraint() {
            @Override
            public BitSet allowed() {
                return set;
            }

            @Override
            public Constraint step(int id) {
                return this;
            }
        };
        assertThat(new Sampler(SamplingParams.GREEDY).choose(row(1, 9, 2), 3, NO_TAPE, 0, 0, only))
                .isEqualTo(2);
        Sampler sampler = new Sampler(new SamplingParams(1, 1, 2, 0, 3));
        for (int position = 0; position < 100; position++) {
            assertThat(sampler.choose(row(1, 9, 2), 3, NO_TAPE, position, position, only))
                    .isIn(0, 2);
        }
    }

    @Test
    void logprobsAreThoseOfTheSoftmax() {
        Sampler sampler = new Sampler(withBias(0, Map.of(0, 1.0)));
        int id = sampler.choose(row(1, 0, 1.5f, 1.5f), 4, NO_TAPE, 0, 0);
        TokenLogprobs logprobs = sampler.logprobs(id, 3);
        double normal = Math.log(Math.exp(2) + Math.exp(0) + 2 * Math.exp(1.5));
        assertThat(logprobs.id()).isZero();
        assertThat(logprobs.logprob()).isCloseTo(2 - normal, within(1e-12));
        assertThat(logprobs.top().stream().map(TokenLogprobs::id)).containsExactly(0, 2, 3);
        assertThat(logprobs.top().get(2).logprob()).isCloseTo(1.5 - normal, within(1e-12));
    }

    @Test
    void refusesWhatHasNoMeaning() {
        assertThatThrownBy(() -> new SamplingParams(-1, 1, 0, 0, 0)).hasMessageContaining("temperature");
        assertThatThrownBy(() -> new SamplingParams(1e-9, 1, 0, 0, 0)).hasMessageContaining("temperature");
        assertThatThrownBy(() -> new SamplingParams(1, 2, 0, 0, 0)).hasMessageContaining("topP");
        assertThatThrownBy(() -> new SamplingParams(1, 1, -1, 0, 0)).hasMessageContaining("topK");
        assertThatThrownBy(() -> withBias(0, Map.of(1, Double.NaN))).hasMessageContaining("logitBias");
    }
}
