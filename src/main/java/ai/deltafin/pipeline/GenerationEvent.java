package ai.deltafin.pipeline;

import ai.deltafin.chat.AnswerEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What happens to a request, in this order: queued, started, prefill progress, tokens, and one ending. */
public sealed interface GenerationEvent {

    /**
     * The request waits for the decode verticle.
     *
     * @param position requests that come before it, the running one included
     */
    record Queued(int position) implements GenerationEvent {}

    /**
     * The decode verticle took the request up.
     *
     * @param promptTokens ids of the prompt
     * @param cachedTokens those that a kept session had computed already
     */
    record Started(int promptTokens, int cachedTokens) implements GenerationEvent {}

    /**
     * The prompt is going through the layers.
     *
     * @param done prompt tokens computed, those of a pass in progress counted by the layers they have passed
     * @param total prompt tokens
     * @param expertBytesRead bytes of experts read from drives since the request was taken up
     */
    record PrefillProgress(int done, int total, long expertBytesRead) implements GenerationEvent {}

    /**
     * New tokens of one step.
     *
     * @param ids the ids chosen
     * @param parsed for a chat: what they add to reasoning, content and tool calls; empty for raw text
     * @param text for raw text: what they add, whole characters only; empty for a chat
     * @param logprobs one for each id where the request asked for them
     */
    record Tokens(int[] ids, List<AnswerEvent> parsed, String text, List<Logprob> logprobs)
            implements GenerationEvent {}

    /**
     * The request ended as it should, or was cancelled.
     *
     * @param stop the stop string that ended it; null for any other end
     */
    record Finished(
            FinishReason reason,
            Usage usage,
            GenerationStats stats,
            @Nullable String stop) implements GenerationEvent {
        /** The end of a request that was cancelled before the decode verticle took it up. */
        static Finished beforeStart(int promptTokens, long arrivedNanos, long tokenizeNanos) {
            return new Finished(
                    FinishReason.CANCELLED,
                    new Usage(promptTokens, 0, 0, 0),
                    GenerationStats.beforeStart(System.nanoTime() - arrivedNanos, tokenizeNanos),
                    null);
        }
    }

    /**
     * The request ended otherwise.
     *
     * @param field the field of the request that is to blame; null where it is not one field's fault
     */
    record Failed(ErrorKind kind, String message, @Nullable String field) implements GenerationEvent {
        /** Not one field's fault. */
        Failed(ErrorKind kind, String message) {
            this(kind, message, null);
        }
    }
}
