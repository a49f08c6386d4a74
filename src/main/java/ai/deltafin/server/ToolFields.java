package ai.deltafin.server;

import ai.deltafin.chat.ToolChoice;
import ai.deltafin.chat.ToolDef;
import ai.deltafin.pipeline.CallRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which tools may be called, as every API says it.
 *
 * @param choice what the prompt says
 * @param rules what decoding enforces
 */
record ToolFields(ToolChoice choice, CallRules rules) {

    /**
     * Checks a choice against the tools that are declared.
     *
     * @param mode auto, none or required; a named tool is required
     * @param named the named tool; null for none
     * @param field path of the choice, for errors
     */
    static ToolFields of(String mode, @Nullable String named, boolean single, List<ToolDef> tools, String field) {
        if (named != null && tools.stream().noneMatch(tool -> named.equals(tool.name()))) {
            throw ApiException.invalid(field, "names the tool \"" + named + "\", which is not among the tools");
        }
        ToolChoice choice = switch (named != null ? "required" : mode) {
            case "auto" -> ToolChoice.AUTO;
            case "none" -> ToolChoice.NONE;
            case "required" -> ToolChoice.REQUIRED;
            default -> throw ApiException.invalid(field, "\"" + mode + "\" is none of auto, none, required");
        };
        if (choice == ToolChoice.REQUIRED && tools.isEmpty()) {
            throw ApiException.invalid(field, "asks for a tool call and no tools are given");
        }
        return new ToolFields(choice, new CallRules(named, single && !tools.isEmpty()));
    }
}
