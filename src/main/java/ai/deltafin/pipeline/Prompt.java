package ai.deltafin.pipeline;

import ai.deltafin.chat.ChatRequest;

/** What the model is asked to continue. */
public sealed interface Prompt {

    /**
     * Raw text.
     *
     * @param specials whether spellings of control tokens count as control tokens; text that a user typed never should
     */
    record Text(String text, boolean specials) implements Prompt {}

    /** A conversation, rendered by the chat template; the answer is parsed into reasoning, content and tool calls. */
    record Chat(ChatRequest chat) implements Prompt {}

    /** Token ids as they are; the array is not changed by anyone. */
    record Ids(int[] ids) implements Prompt {}
}
