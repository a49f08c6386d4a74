package ai.deltafin.chat;

/** Why an answer is over. */
public enum FinishReason {
    /** The model ended it, or a stop string did. */
    STOP,
    /** The token limit came first. */
    LENGTH,
    /** The model ended it, having called tools. */
    TOOL_CALLS
}
