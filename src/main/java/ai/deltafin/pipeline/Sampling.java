package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.SamplingParams;
import java.util.Map;

/**
 * How a request wants its ids chosen: the engine's {@link SamplingParams} for callers that do not know the engine.
 *
 * @param seed key of the noise; the caller draws one where its client gave none
 * @param stream number of the choice, where one request asks for several
 */
public record Sampling(
        double temperature,
        double topP,
        int topK,
        double minP,
        double frequencyPenalty,
        double presencePenalty,
        Map<Integer, Double> logitBias,
        long seed,
        int stream) {

    /** The most probable id, always. */
    public static final Sampling GREEDY = new Sampling(0, 1, 0, 0, 0, 0, Map.of(), 0, 0);

    public Sampling {
        logitBias = Map.copyOf(logitBias);
    }

    /** The same for another choice. */
    public Sampling withStream(int other) {
        return new Sampling(temperature, topP, topK, minP, frequencyPenalty, presencePenalty, logitBias, seed, other);
    }

    /** For the engine. */
    SamplingParams params() {
        return new SamplingParams(
                temperature, topP, topK, minP, frequencyPenalty, presencePenalty, logitBias, seed, stream);
    }
}
