package ai.deltafin.chat;

/** What the prompt tells the model about calling tools. A named tool has no wording in this format. */
public enum ToolChoice {
    /** Nothing: the model decides. */
    AUTO,
    /** It must not. */
    NONE,
    /** It must. */
    REQUIRED
}
