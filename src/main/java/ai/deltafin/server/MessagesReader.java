package ai.deltafin.server;

import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.ContentPart;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.ResponseFormat;
import ai.deltafin.chat.Thinking;
import ai.deltafin.chat.ToolCall;
import ai.deltafin.chat.ToolDef;
import ai.deltafin.pipeline.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads {@code POST /v1/messages}, Anthropic's shape, and its {@code count_tokens}. */
final class MessagesReader implements RequestReader {

    private static final int LOW_BUDGET = 4096;
    private static final int HIGH_BUDGET = 16_384;

    @Override
    public Ask read(ObjectNode body, Context context) {
        FieldTables.MESSAGES.check(body, "", context.unknown());
        Fields fields = new Fields(body, "");
        OptionalInt most = fields.integer("max_tokens", 1, ChatReader.MANY_TOKENS);
        if (most.isEmpty()) {
            throw ApiException.invalid("max_tokens", "missing: a bound on new tokens is needed");
        }
        List<ToolDef> tools = tools(fields);
        ToolFields choice = toolChoice(fields, tools);
        return new Ask(
                new Prompt.Chat(chat(fields, tools, choice)),
                SamplingFields.read(fields, 1, context.vocabulary()),
                false,
                most,
                SamplingFields.stops(fields, "stop_sequences"),
                1,
                -1,
                choice.rules(),
                fields.flag("stream", false),
                true);
    }

    /** The chat whose tokens are to be counted. */
    ChatRequest readForCount(ObjectNode body, Context context) {
        FieldTables.COUNT_TOKENS.check(body, "", context.unknown());
        Fields fields = new Fields(body, "");
        List<ToolDef> tools = tools(fields);
        return chat(fields, tools, toolChoice(fields, tools));
    }

    private static ChatRequest chat(Fields fields, List<ToolDef> tools, ToolFields choice) {
        fields.text("model");
        return new ChatRequest(
                messages(fields), tools, thinking(fields), choice.choice(), format(fields), List.of(), true);
    }

    private static Thinking thinking(Fields fields) {
        Fields given = fields.inner("thinking");
        String type = given.text("type");
        Thinking thinking = switch (type == null ? "disabled" : type) {
            case "disabled" -> Thinking.OFF;
            case "adaptive" -> Thinking.MAX;
            case "enabled" -> {
                int budget = given.integer("budget_tokens", 1, ChatReader.MANY_TOKENS)
                        .orElse(HIGH_BUDGET);
                yield budget < LOW_BUDGET ? Thinking.LOW : budget < HIGH_BUDGET ? Thinking.HIGH : Thinking.MAX;
            }
            default -> throw ApiException.invalid("thinking.type", "must be disabled, enabled or adaptive");
        };
        String effort = fields.inner("output_config").text("effort");
        return effort == null || !thinking.on() ? thinking : Thinking.ofEffort(effort, "output_config.effort");
    }

    private static ResponseFormat format(Fields fields) {
        Fields config = fields.inner("output_config");
        if (!config.has("format")) {
            return new ResponseFormat.Text();
        }
        Fields format = config.inner("format");
        if (!format.needed("type").equals("json_schema")
                || !format.node("schema").isObject()) {
            throw ApiException.invalid(config.at("format"), "must be {\"type\": \"json_schema\", \"schema\": {...}}");
        }
        return new ResponseFormat.JsonSchema(format.node("schema"));
    }

    private static ToolFields toolChoice(Fields fields, List<ToolDef> tools) {
        Fields given = fields.inner("tool_choice");
        boolean single = given.flag("disable_parallel_tool_use", false);
        String type = given.text("type");
        return switch (type == null ? "auto" : type) {
            case "auto", "none" -> ToolFields.of(type == null ? "auto" : type, null, single, tools, "tool_choice");
            case "any" -> ToolFields.of("required", null, single, tools, "tool_choice.type");
            case "tool" -> ToolFields.of("required", given.needed("name"), single, tools, "tool_choice.name");
            default -> throw ApiException.invalid("tool_choice.type", "must be auto, any, tool or none");
        };
    }

    private static List<ToolDef> tools(Fields fields) {
        List<ToolDef> tools = new ArrayList<>();
        for (JsonNode node : fields.list("tools")) {
            Fields tool = new Fields(node, "tools[" + tools.size() + "]");
            String type = tool.text("type");
            if (type != null && !type.equals("custom")) {
                throw ApiException.invalid(
                        tool.at("type"), "\"" + type + "\" runs on Anthropic's servers and does not exist here");
            }
            ObjectNode function = JsonNodeFactory.instance.objectNode();
            function.put("name", tool.needed("name"));
            if (tool.has("description")) {
                function.put("description", tool.needed("description"));
            }
            if (tool.has("input_schema")) {
                function.set("parameters", tool.inner("input_schema").whole());
            }
            if (tool.has("strict")) {
                function.put("strict", tool.flag("strict", false));
            }
            tools.add(ToolNames.checked(function, tool.at("name"), tools));
        }
        return tools;
    }

    private static List<Message> messages(Fields fields) {
        Turns turns = new Turns();
        List<ContentPart> system = texts(fields, "system");
        if (!system.isEmpty()) {
            turns.add(new Message.System(system, null, List.of()));
        }
        int index = 0;
        for (JsonNode node : fields.list("messages")) {
            Fields message = new Fields(node, "messages[" + index++ + "]");
            switch (message.needed("role")) {
                case "user" -> user(message, turns);
                case "assistant" -> assistant(message, turns);
                case "system" -> turns.add(new Message.System(texts(message, "content"), null, List.of()));
                default -> throw ApiException.invalid(message.at("role"), "must be user or assistant");
            }
        }
        if (index == 0) {
            throw ApiException.invalid("messages", "missing: at least one message is needed");
        }
        return turns.finish();
    }

    private static List<Fields> blocks(Fields message, String name) {
        List<Fields> blocks = new ArrayList<>();
        for (JsonNode block : message.list(name)) {
            blocks.add(new Fields(block, message.at(name) + "[" + blocks.size() + "]"));
        }
        return blocks;
    }

    private static void user(Fields message, Turns turns) {
        if (message.node("content").isString()) {
            turns.add(new Message.User(ContentPart.ofText(message.needed("content")), null));
            return;
        }
        List<ContentPart> text = new ArrayList<>();
        boolean results = false;
        for (Fields block : blocks(message, "content")) {
            if (block.needed("type").equals("tool_result")) {
                results = true;
                if (!text.isEmpty()) {
                    turns.add(new Message.User(text, null));
                    text.clear();
                }
                turns.add(new Message.Tool(texts(block, "content"), block.needed("tool_use_id"), null));
            } else {
                text.add(text(block));
            }
        }
        if (!text.isEmpty() || !results) {
            turns.add(new Message.User(text, null));
        }
    }

    private static void assistant(Fields message, Turns turns) {
        if (message.node("content").isString()) {
            turns.content(ContentPart.ofText(message.needed("content")));
            return;
        }
        for (Fields block : blocks(message, "content")) {
            switch (block.needed("type")) {
                case "thinking" -> turns.reasoning(block.needed("thinking"));
                case "tool_use" -> {
                    if (!(block.node("input") instanceof ObjectNode input)) {
                        throw ApiException.invalid(block.at("input"), "must be an object");
                    }
                    turns.call(new ToolCall(
                            block.needed("id"), block.needed("name"), new ToolCall.Arguments.Parsed(input)));
                }
                default -> turns.content(List.of(text(block)));
            }
        }
    }

    private static ContentPart text(Fields block) {
        if (!block.needed("type").equals("text")) {
            throw ApiException.invalid(
                    block.at("type"), "\"" + block.needed("type") + "\" is not supported here; send text");
        }
        return new ContentPart.Text(block.needed("text"));
    }

    private static List<ContentPart> texts(Fields of, String name) {
        if (of.node(name).isString()) {
            return ContentPart.ofText(of.needed(name));
        }
        List<ContentPart> parts = new ArrayList<>();
        for (Fields block : blocks(of, name)) {
            parts.add(text(block));
        }
        return parts;
    }
}
