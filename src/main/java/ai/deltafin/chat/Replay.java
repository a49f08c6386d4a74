package ai.deltafin.chat;

import org.jspecify.annotations.Nullable;

/** Where the renderer asks for the ids that the model itself generated for an answer in the history. */
@FunctionalInterface
public interface Replay {

    /** Knows no answer: all are rendered as the released encoder does. */
    Replay NONE = (answer, thinking) -> null;

    /**
     * The generated ids, from behind the opened channel to the end of the message, or null.
     *
     * @param thinking whether the prompt had opened the think channel (else the response channel)
     */
    Segment.@Nullable Replay find(Message.Assistant answer, boolean thinking);
}
