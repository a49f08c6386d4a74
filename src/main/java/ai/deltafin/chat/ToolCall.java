package ai.deltafin.chat;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A call of a tool that an earlier answer made.
 *
 * @param id the call's id, which results name; null if it has none
 */
public record ToolCall(@Nullable String id, String name, Arguments arguments) {

    /** What a tool is called with. */
    public sealed interface Arguments {

        /** As the OpenAI API carries them: the text of a JSON object; blank for none. */
        record Text(String json) implements Arguments {}

        /** Already parsed. */
        record Parsed(ObjectNode object) implements Arguments {}
    }

    /** A call with arguments as text. */
    public static ToolCall of(String id, String name, String argumentsJson) {
        return new ToolCall(id, name, new Arguments.Text(argumentsJson));
    }
}
