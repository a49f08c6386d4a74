package ai.deltafin.chat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads messages and tools from JSON of the OpenAI chat shape. What says nothing (null, {@code ""}, {@code []},
 * {@code {}}) is always accepted; an unknown field that says something goes to the handler.
 */
public final class MessagesJson {

    /** How far the reader follows the released encoder. */
    public enum Dialect {
        /** As the encoder: a message of an unknown role renders as nothing, tools are taken as they are. */
        REFERENCE,
        /** As the API: developer is system, other unknown roles are refused, tools are checked. */
        OPENAI
    }

    private static final Set<String> COMMON = Set.of("role", "content", "name");
    private static final Set<String> SYSTEM = Set.of("tools");
    private static final Set<String> ASSISTANT =
            Set.of("reasoning_content", "reasoning", "tool_calls", "partial", "id");
    private static final Set<String> TOOL = Set.of("tool_call_id", "id", "tool");
    private static final Set<String> TOOL_CALL = Set.of("id", "type", "index", "function", "name", "arguments");

    /** The last two say nothing to the model. */
    private static final Set<String> TEXT_PART = Set.of("type", "text", "annotations", "cache_control");

    private final Dialect dialect;
    private final Consumer<String> unknownField;

    /**
     * A reader.
     *
     * @param unknownField called with the path of each field that has no meaning here; may throw
     */
    public MessagesJson(Dialect dialect, Consumer<String> unknownField) {
        this.dialect = dialect;
        this.unknownField = unknownField;
    }

    /** A reader that refuses unknown fields. */
    public static MessagesJson strict(Dialect dialect) {
        return new MessagesJson(dialect, field -> {
            throw new ChatException(field, "unknown field; remove it");
        });
    }

    /**
     * The messages of an array.
     *
     * @param field its path in the request, for errors
     * @throws ChatException naming what is wrong
     */
    public List<Message> messages(JsonNode array, String field) {
        List<Message> messages = new ArrayList<>();
        for (JsonNode message : elements(array, field)) {
            messages.add(message(message, field + "[" + messages.size() + "]"));
        }
        return messages;
    }

    private Message message(JsonNode node, String field) {
        if (!node.isObject()) {
            throw new ChatException(field, "a message is an object");
        }
        String role = string(node, "role", field);
        if (role == null) {
            throw new ChatException(field + ".role", "missing");
        }
        boolean developer = role.equals("developer") && dialect == Dialect.OPENAI;
        return switch (developer ? "system" : role) {
            case "system" -> {
                known(node, field, SYSTEM);
                List<ToolDef> tools = tools(node.path("tools"), field + ".tools");
                yield new Message.System(content(node, field), string(node, "name", field), tools);
            }
            case "user" -> {
                known(node, field, Set.of());
                yield new Message.User(content(node, field), string(node, "name", field));
            }
            case "assistant" -> {
                known(node, field, ASSISTANT);
                yield assistant(node, field);
            }
            case "tool" -> {
                known(node, field, TOOL);
                yield new Message.Tool(
                        content(node, field),
                        first(scalar(node, "tool_call_id", field), scalar(node, "id", field)),
                        first(string(node, "tool", field), string(node, "name", field)));
            }
            default -> {
                if (dialect == Dialect.OPENAI) {
                    throw new ChatException(
                            field + ".role", "\"" + role + "\" is none of system, developer, user, assistant, tool");
                }
                yield new Message.Unknown(role);
            }
        };
    }

    private Message.Assistant assistant(JsonNode node, String field) {
        String reasoning = first(string(node, "reasoning_content", field), string(node, "reasoning", field));
        List<ToolCall> calls = new ArrayList<>();
        for (JsonNode call : elements(node.path("tool_calls"), field + ".tool_calls")) {
            calls.add(toolCall(call, field + ".tool_calls[" + calls.size() + "]"));
        }
        JsonNode partial = node.path("partial");
        if (says(partial) && !partial.isBoolean()) {
            throw new ChatException(field + ".partial", "must be true or false");
        }
        return new Message.Assistant(
                content(node, field),
                string(node, "name", field),
                reasoning == null ? "" : reasoning,
                calls,
                partial.isBoolean() && partial.booleanValue());
    }

    private ToolCall toolCall(JsonNode node, String field) {
        if (!node.isObject()) {
            throw new ChatException(field, "a tool call is an object");
        }
        report(node, field, TOOL_CALL, Set.of());
        boolean nested = says(node.path("function"));
        JsonNode function = nested ? node.path("function") : node;
        String path = nested ? field + ".function" : field;
        String name = string(function, "name", path);
        if (name == null || name.isEmpty()) {
            throw new ChatException(path + ".name", "missing");
        }
        JsonNode arguments = function.path("arguments");
        ToolCall.Arguments read;
        if (arguments instanceof ObjectNode object) {
            read = new ToolCall.Arguments.Parsed(object);
        } else if (arguments.isMissingNode() || arguments.isNull()) {
            read = new ToolCall.Arguments.Text("");
        } else if (arguments.isString()) {
            read = new ToolCall.Arguments.Text(arguments.stringValue());
        } else {
            throw new ChatException(path + ".arguments", "must be the text of a JSON object, or an object");
        }
        return new ToolCall(scalar(node, "id", field), name, read);
    }

    /**
     * The tools of an array; none for null.
     *
     * @param field its path in the request, for errors
     * @throws ChatException naming what is wrong
     */
    public List<ToolDef> tools(JsonNode array, String field) {
        List<ToolDef> tools = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (JsonNode tool : elements(array, field)) {
            String path = field + "[" + tools.size() + "]";
            if (!(tool instanceof ObjectNode object)) {
                throw new ChatException(path, "a tool is an object");
            }
            ToolDef read = new ToolDef(object);
            if (dialect == Dialect.OPENAI) {
                check(read, path, names);
            }
            tools.add(read);
        }
        return tools;
    }

    private static void check(ToolDef tool, String path, Set<String> names) {
        if (!tool.json().path("type").asString("").equals("function")) {
            throw new ChatException(path + ".type", "must be \"function\"");
        }
        String name = tool.name();
        if (name == null || !name.matches("[A-Za-z0-9_.-]{1,128}")) {
            throw new ChatException(
                    path + ".function.name", "must be 1 to 128 letters, digits, underscores, dots or hyphens");
        }
        if (!names.add(name)) {
            throw new ChatException(path + ".function.name", "\"" + name + "\" is declared twice");
        }
    }

    private List<ContentPart> content(JsonNode message, String field) {
        JsonNode content = message.path("content");
        if (content.isString()) {
            return ContentPart.ofText(content.stringValue());
        }
        List<ContentPart> parts = new ArrayList<>();
        for (JsonNode part : elements(content, field + ".content")) {
            parts.add(part(part, field + ".content[" + parts.size() + "]"));
        }
        return parts;
    }

    private ContentPart part(JsonNode part, String field) {
        String type = part.path("type").asString("");
        if (type.equals("image") || type.equals("image_url")) {
            return new ContentPart.Image();
        }
        JsonNode text = part.path("text");
        if (!text.isString()) {
            throw new ChatException(field, "a content part has a \"text\", or is of type image or image_url");
        }
        report(part, field, TEXT_PART, Set.of());
        return new ContentPart.Text(text.stringValue());
    }

    private void known(JsonNode node, String field, Set<String> own) {
        report(node, field, COMMON, own);
    }

    private void report(JsonNode node, String field, Set<String> known, Set<String> alsoKnown) {
        for (Map.Entry<String, JsonNode> entry : node.properties()) {
            String key = entry.getKey();
            if (!known.contains(key) && !alsoKnown.contains(key) && says(entry.getValue())) {
                unknownField.accept(field + "." + key);
            }
        }
    }

    /** Whether a value says anything. */
    static boolean says(JsonNode value) {
        boolean empty = value.isContainer()
                ? value.isEmpty()
                : value.isString() && value.stringValue().isEmpty();
        return !value.isMissingNode() && !value.isNull() && !empty;
    }

    private static Iterable<JsonNode> elements(JsonNode array, String field) {
        if (array.isMissingNode() || array.isNull()) {
            return List.of();
        }
        if (!array.isArray()) {
            throw new ChatException(field, "must be an array, found " + array.getNodeType());
        }
        return array;
    }

    private static @Nullable String string(JsonNode node, String key, String field) {
        JsonNode value = node.path(key);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isString()) {
            throw new ChatException(field + "." + key, "must be a string, found " + value.getNodeType());
        }
        return value.stringValue();
    }

    /** An id: a string, or a number that stands for its digits. */
    private static @Nullable String scalar(JsonNode node, String key, String field) {
        return node.path(key).isNumber() ? PythonJson.number(node.path(key)) : string(node, key, field);
    }

    private static @Nullable String first(@Nullable String preferred, @Nullable String other) {
        return preferred != null && !preferred.isEmpty() ? preferred : other;
    }
}
