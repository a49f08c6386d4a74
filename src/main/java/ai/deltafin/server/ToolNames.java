package ai.deltafin.server;

import ai.deltafin.chat.ToolDef;
import java.util.List;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Tools of the APIs that declare them without OpenAI's nesting. */
final class ToolNames {

    private ToolNames() {}

    /**
     * The tool in nested form, its name checked.
     *
     * @param field path of the name, for errors
     * @param before tools declared before it
     */
    static ToolDef checked(ObjectNode function, String field, List<ToolDef> before) {
        String name = function.path("name").asString("");
        if (!name.matches("[A-Za-z0-9_.-]{1,128}")) {
            throw ApiException.invalid(field, "must be 1 to 128 letters, digits, underscores, dots or hyphens");
        }
        if (before.stream().anyMatch(tool -> name.equals(tool.name()))) {
            throw ApiException.invalid(field, "\"" + name + "\" is declared twice");
        }
        ObjectNode tool = JsonNodeFactory.instance.objectNode();
        tool.put("type", "function");
        tool.set("function", function);
        return new ToolDef(tool);
    }
}
