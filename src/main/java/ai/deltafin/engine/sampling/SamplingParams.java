package ai.deltafin.engine.sampling;

import java.util.Map;

/**
 * How ids are chosen.
 *
 * @param temperature 0 is greedy
 * @param topP keeps the shortest run of most probable ids whose probability reaches it, 0 to 1; 1 keeps all
 * @param topK keeps the k most probable ids; 0 keeps all
 * @param minP drops ids less probable than this times the most probable one, 0 to 1
 * @param frequencyPenalty taken from an id's logit once for each time it was generated
 * @param presencePenalty taken from an id's logit if it was generated at all
 * @param logitBias added to the logits of these ids
 * @param seed key of the noise
 * @param stream number of the choice, where one request asks for several
 */
public record SamplingParams(
        double temperature,
        double topP,
        int topK,
        double minP,
        double frequencyPenalty,
        double presencePenalty,
        Map<Integer, Double> logitBias,
        long seed,
        int stream) {

    /** Below this, logits divided by the temperature lose the noise to rounding. */
    public static final double LEAST_TEMPERATURE = 1e-6;

    /** The most probable id, always. */
    public static final SamplingParams GREEDY = new SamplingParams(0, 1, 0, 0, 0);

    /** Checks the ranges. */
    public SamplingParams {
        check(
                temperature == 0 || (temperature >= LEAST_TEMPERATURE && temperature <= 100),
                "temperature",
                temperature,
                "0, or " + LEAST_TEMPERATURE + " to 100");
        check(topP >= 0 && topP <= 1, "topP", topP, "0 to 1");
        check(topK >= 0, "topK", topK, "0 or more");
        check(minP >= 0 && minP <= 1, "minP", minP, "0 to 1");
        check(Double.isFinite(frequencyPenalty), "frequencyPenalty", frequencyPenalty, "finite");
        check(Double.isFinite(presencePenalty), "presencePenalty", presencePenalty, "finite");
        logitBias = Map.copyOf(logitBias);
        logitBias.values().forEach(bias -> check(Double.isFinite(bias), "logitBias", bias, "finite"));
    }

    /** Without penalties and bias, first choice. */
    public SamplingParams(double temperature, double topP, int topK, double minP, long seed) {
        this(temperature, topP, topK, minP, 0, 0, Map.of(), seed, 0);
    }

    private static void check(boolean holds, String name, double value, String range) {
        if (!holds) {
            throw new IllegalArgumentException(name + " must be " + range + ", not " + value);
        }
    }

    /** Whether the noise plays no part. */
    public boolean greedy() {
        return temperature == 0;
    }

    /** Whether logits are changed before the choice. */
    boolean changesLogits() {
        return frequencyPenalty != 0 || presencePenalty != 0 || !logitBias.isEmpty();
    }
}
