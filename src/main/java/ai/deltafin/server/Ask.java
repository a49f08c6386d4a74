package ai.deltafin.server;

import ai.deltafin.pipeline.CallRules;
import ai.deltafin.pipeline.Prompt;
import ai.deltafin.pipeline.Sampling;
import java.util.List;
import java.util.OptionalInt;

/**
 * What a request of any API asks of the model, read and checked.
 *
 * @param sampling for choice 0; choice i draws from stream i
 * @param seedGiven whether the client chose the seed
 * @param maxNewTokens bound on new tokens; empty takes the server's
 * @param choices how many answers
 * @param topLogprobs alternatives to report; negative reports none and no log-probability at all
 * @param calls demands on tool calls
 * @param stream whether the answer is streamed
 * @param includeUsage whether a stream ends with its usage, where the API leaves that to the client
 */
record Ask(
        Prompt prompt,
        Sampling sampling,
        boolean seedGiven,
        OptionalInt maxNewTokens,
        List<String> stops,
        int choices,
        int topLogprobs,
        CallRules calls,
        boolean stream,
        boolean includeUsage) {

    Ask {
        stops = List.copyOf(stops);
    }
}
