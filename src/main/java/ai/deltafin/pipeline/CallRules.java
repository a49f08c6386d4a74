package ai.deltafin.pipeline;

import org.jspecify.annotations.Nullable;

/**
 * What a chat request demands of tool calls beyond what its prompt says; enforced while decoding.
 *
 * @param onlyTool the one tool that must be called; null for no such demand
 * @param single whether there may be at most one call
 */
public record CallRules(@Nullable String onlyTool, boolean single) {

    /** Nothing beyond the prompt. */
    public static final CallRules NONE = new CallRules(null, false);
}
