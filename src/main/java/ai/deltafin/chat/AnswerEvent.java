package ai.deltafin.chat;

/** What the model's answer turns out to say, in the order it says it. */
public sealed interface AnswerEvent {

    /** More of what the model thinks. */
    record ReasoningDelta(String text) implements AnswerEvent {}

    /** More of the answer. */
    record ContentDelta(String text) implements AnswerEvent {}

    /**
     * A tool call begins.
     *
     * @param index 0, 1, 2, ... in order of appearance
     * @param id a fresh opaque id
     */
    record ToolCallStarted(int index, String id, String name) implements AnswerEvent {}

    /** More of a call's arguments; joined they are the text of one JSON object. */
    record ToolArgumentsDelta(int index, String json) implements AnswerEvent {}

    /** The call is complete. */
    record ToolCallEnded(int index) implements AnswerEvent {}

    /** The answer ended inside this call. Its arguments stay as they are, unclosed: a cut call must not be executed. */
    record ToolCallCut(int index) implements AnswerEvent {}

    /** The answer is over; nothing follows. */
    record Finished(FinishReason reason) implements AnswerEvent {}
}
