package ai.deltafin.pipeline;

/**
 * Tokens of a request.
 *
 * @param promptTokens ids of the prompt
 * @param cachedTokens those of them that a kept session had computed already
 * @param completionTokens ids generated, the end marker included
 * @param reasoningTokens those of them that are text of a chat's reasoning
 */
public record Usage(int promptTokens, int cachedTokens, int completionTokens, int reasoningTokens) {}
