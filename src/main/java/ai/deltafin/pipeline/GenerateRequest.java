package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.SamplingParams;
import java.util.List;

/**
 * One generation: the command that travels from the caller through the tokenizer to the decode verticle.
 *
 * @param id names the request in events, logs and the tap
 * @param prompt what to continue
 * @param sampling how the next id is chosen
 * @param maxNewTokens bound on new ids, 1 or more
 * @param stops strings that end the answer and are not part of it; they act on content only
 * @param options what else the request wants
 * @param cancel its stop flag
 * @param sink where its events go
 */
public record GenerateRequest(
        long id,
        Prompt prompt,
        SamplingParams sampling,
        int maxNewTokens,
        List<String> stops,
        GenerateOptions options,
        CancelToken cancel,
        GenerationSink sink) {

    public GenerateRequest {
        if (maxNewTokens < 1) {
            throw new IllegalArgumentException("maxNewTokens must be 1 or more, not " + maxNewTokens);
        }
        stops = List.copyOf(stops);
    }

    /** A request of a caller that does not know the engine. */
    public static GenerateRequest of(
            long id,
            Prompt prompt,
            Sampling sampling,
            int maxNewTokens,
            List<String> stops,
            GenerateOptions options,
            CancelToken cancel,
            GenerationSink sink) {
        return new GenerateRequest(id, prompt, sampling.params(), maxNewTokens, stops, options, cancel, sink);
    }
}
