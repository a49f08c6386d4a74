package ai.deltafin.chat;

import ai.deltafin.chat.MessagesJson.Dialect;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Reads a {@link ChatRequest} in the released encoder's own field names: {@code messages}, {@code tools},
 * {@code thinking}, {@code thinking_effort}, {@code tool_choice}, {@code response_format}, {@code image_prompts},
 * {@code add_generation_prompt}.
 */
public final class ChatRequestJson {

    private static final Set<String> FIELDS = Set.of(
            "messages",
            "tools",
            "thinking",
            "thinking_effort",
            "tool_choice",
            "response_format",
            "image_prompts",
            "add_generation_prompt");

    private ChatRequestJson() {}

    /**
     * The request.
     *
     * @throws ChatException naming the field that is unknown or cannot be rendered
     */
    public static ChatRequest read(JsonNode chat) {
        if (!chat.isObject()) {
            throw new ChatException("chat", "must be an object with \"messages\"");
        }
        for (String field : chat.propertyNames()) {
            if (!FIELDS.contains(field)) {
                throw new ChatException(field, "unknown field; known are " + String.join(", ", sorted()));
            }
        }
        if (!chat.path("messages").isArray()) {
            throw new ChatException("messages", "must be an array");
        }
        MessagesJson reader = MessagesJson.strict(Dialect.REFERENCE);
        return new ChatRequest(
                reader.messages(chat.path("messages"), "messages"),
                reader.tools(chat.path("tools"), "tools"),
                thinking(chat),
                toolChoice(chat.path("tool_choice"), "tool_choice"),
                responseFormat(chat.path("response_format"), "response_format"),
                imagePrompts(chat.path("image_prompts")),
                flag(chat, "add_generation_prompt"));
    }

    private static List<String> sorted() {
        return FIELDS.stream().sorted().toList();
    }

    /** A flag that is on unless the request says otherwise. */
    private static boolean flag(JsonNode chat, String field) {
        JsonNode value = chat.path(field);
        if (value.isMissingNode() || value.isNull()) {
            return true;
        }
        if (!value.isBoolean()) {
            throw new ChatException(field, "must be true or false");
        }
        return value.booleanValue();
    }

    private static Thinking thinking(JsonNode chat) {
        if (!flag(chat, "thinking")) {
            return Thinking.OFF;
        }
        JsonNode effort = chat.path("thinking_effort");
        if (effort.isMissingNode()) {
            return Thinking.MAX;
        }
        return switch (effort.isNull() ? "" : effort.asString("?")) {
            case "" -> Thinking.UNSTATED;
            case "low" -> Thinking.LOW;
            case "high" -> Thinking.HIGH;
            case "max" -> Thinking.MAX;
            default -> throw new ChatException("thinking_effort", "must be low, high or max");
        };
    }

    /**
     * What the prompt says about calling tools. A named tool has no wording: it says nothing, and only constrained
     * decoding can honour it.
     *
     * @throws ChatException naming {@code field} for an unknown word
     */
    public static ToolChoice toolChoice(JsonNode choice, String field) {
        if (choice.isMissingNode() || choice.isNull() || choice.isObject()) {
            return ToolChoice.AUTO;
        }
        return switch (choice.asString("")) {
            case "auto" -> ToolChoice.AUTO;
            case "none" -> ToolChoice.NONE;
            case "required" -> ToolChoice.REQUIRED;
            default -> throw new ChatException(field, "must be auto, none, required, or an object naming a tool");
        };
    }

    /**
     * What the prompt says about the form of the answer: an object with a {@code type}, or the type alone.
     *
     * @throws ChatException naming {@code field} for an unknown type
     */
    public static ResponseFormat responseFormat(JsonNode format, String field) {
        if (format.isMissingNode() || format.isNull()) {
            return new ResponseFormat.Text();
        }
        return switch (format.isObject() ? format.path("type").asString("") : format.asString("")) {
            case "text" -> new ResponseFormat.Text();
            case "json_object" -> new ResponseFormat.JsonObject();
            case "json_schema" -> new ResponseFormat.JsonSchema(schema(format.path("json_schema")));
            default -> throw new ChatException(field + ".type", "must be text, json_object or json_schema");
        };
    }

    private static JsonNode schema(JsonNode given) {
        for (String key : List.of("schema", "json_schema")) {
            if (MessagesJson.says(given.path(key))) {
                return given.path(key);
            }
        }
        return MessagesJson.says(given) ? given : JsonNodeFactory.instance.nullNode();
    }

    private static List<String> imagePrompts(JsonNode prompts) {
        if (prompts.isMissingNode() || prompts.isNull()) {
            return List.of();
        }
        if (!prompts.isArray()) {
            throw new ChatException("image_prompts", "must be an array of strings");
        }
        List<String> read = new ArrayList<>();
        for (JsonNode prompt : prompts) {
            if (!prompt.isString()) {
                throw new ChatException("image_prompts[" + read.size() + "]", "must be a string");
            }
            read.add(prompt.stringValue());
        }
        return read;
    }
}
