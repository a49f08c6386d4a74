package ai.deltafin.engine.sampling;

import java.util.List;

/**
 * The natural logarithm of an id's probability at temperature 1, after bias and penalties and before any id is removed.
 *
 * @param top the most probable ids, most probable first, each with an empty list of its own
 */
public record TokenLogprobs(int id, double logprob, List<TokenLogprobs> top) {
    public TokenLogprobs {
        top = List.copyOf(top);
    }
}
