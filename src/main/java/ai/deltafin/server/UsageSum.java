package ai.deltafin.server;

import ai.deltafin.pipeline.Usage;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Tokens of all choices of one answer. The prompt counts once. */
final class UsageSum {

    private final Reply reply;
    private int prompt;
    private int cached;
    private int completion;
    private int reasoning;
    private boolean first = true;

    UsageSum(Reply reply) {
        this.reply = reply;
    }

    /** Adds a choice. What was cached is what the first choice found: the others find the first one's prompt. */
    void add(Usage usage) {
        prompt = Math.max(prompt, reply.promptTokens(usage));
        cached = first ? reply.cachedTokens(usage) : cached;
        completion += usage.completionTokens();
        reasoning += usage.reasoningTokens();
        first = false;
    }

    int prompt() {
        return prompt;
    }

    int cached() {
        return cached;
    }

    int completion() {
        return completion;
    }

    /** Of chat and completions. */
    ObjectNode chat() {
        ObjectNode usage = JsonNodeFactory.instance.objectNode();
        usage.put("prompt_tokens", prompt);
        usage.put("completion_tokens", completion);
        usage.put("total_tokens", prompt + completion);
        usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
        usage.putObject("completion_tokens_details").put("reasoning_tokens", reasoning);
        return usage;
    }

    /** Of Responses. */
    ObjectNode responses() {
        ObjectNode usage = JsonNodeFactory.instance.objectNode();
        usage.put("input_tokens", prompt);
        usage.putObject("input_tokens_details").put("cached_tokens", cached);
        usage.put("output_tokens", completion);
        usage.putObject("output_tokens_details").put("reasoning_tokens", reasoning);
        usage.put("total_tokens", prompt + completion);
        return usage;
    }

    /** Of Messages: tokens read from the cache are counted apart. */
    ObjectNode messages() {
        ObjectNode usage = JsonNodeFactory.instance.objectNode();
        usage.put("input_tokens", prompt - cached);
        usage.put("cache_creation_input_tokens", 0);
        usage.put("cache_read_input_tokens", cached);
        usage.put("output_tokens", completion);
        return usage;
    }
}
