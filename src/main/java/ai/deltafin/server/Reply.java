package ai.deltafin.server;

import ai.deltafin.chat.Tokenizer;
import ai.deltafin.pipeline.Prompt;
import ai.deltafin.pipeline.Usage;
import java.util.UUID;

/**
 * What every answer to one request says of itself.
 *
 * @param id of the answer, with the API's prefix
 * @param created seconds since 1970
 * @param model name of the loaded model
 * @param tokenizer spells tokens where they are reported
 */
record Reply(String id, long created, String model, Ask ask, Tokenizer tokenizer) {

    /** Ids of the channel that a chat prompt opens; the model's vendor does not count them as prompt. */
    private static final int OPENED_CHANNEL = 3;

    /** A reply begun now. */
    static Reply begin(String prefix, String model, Ask ask, Tokenizer tokenizer) {
        return new Reply(fresh(prefix), System.currentTimeMillis() / 1000, model, ask, tokenizer);
    }

    /** A new id. */
    static String fresh(String prefix) {
        return prefix + UUID.randomUUID().toString().replace("-", "");
    }

    /** Prompt tokens as they are counted to the client. */
    int promptTokens(Usage usage) {
        return counted(ask.prompt(), usage.promptTokens());
    }

    /** Prompt tokens of a prompt of so many ids. */
    static int counted(Prompt prompt, int ids) {
        return prompt instanceof Prompt.Chat ? Math.max(0, ids - OPENED_CHANNEL) : ids;
    }

    /** Prompt tokens that a kept session had computed. */
    int cachedTokens(Usage usage) {
        return Math.min(usage.cachedTokens(), promptTokens(usage));
    }
}
