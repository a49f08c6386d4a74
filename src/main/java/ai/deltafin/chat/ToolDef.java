package ai.deltafin.chat;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A tool offered to the model: the whole object as the client sent it, {@code {"type":"function","function":{...}}}. */
public record ToolDef(ObjectNode json) {

    /** The function's name, or null if the object has none. */
    public @Nullable String name() {
        JsonNode name = json.path("function").path("name");
        return name.isString() ? name.stringValue() : null;
    }
}
