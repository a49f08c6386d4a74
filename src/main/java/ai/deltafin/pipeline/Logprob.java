package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.TokenLogprobs;
import java.util.List;

/**
 * The natural logarithm of a token's probability at temperature 1.
 *
 * @param top the most probable tokens at its place, most probable first, each with an empty list of its own
 */
public record Logprob(int id, double logprob, List<Logprob> top) {
    public Logprob {
        top = List.copyOf(top);
    }

    static Logprob of(TokenLogprobs logprobs) {
        return new Logprob(
                logprobs.id(),
                logprobs.logprob(),
                logprobs.top().stream().map(Logprob::of).toList());
    }
}
