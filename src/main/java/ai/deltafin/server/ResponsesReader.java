package ai.deltafin.server;

import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.ChatRequestJson;
import ai.deltafin.chat.ContentPart;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.ResponseFormat;
import ai.deltafin.chat.Thinking;
import ai.deltafin.chat.ToolCall;
import ai.deltafin.chat.ToolDef;
import ai.deltafin.pipeline.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads {@code POST /v1/responses}, the API of Codex-like agents. Nothing is stored between requests. */
final class ResponsesReader implements RequestReader {

    private static final Set<String> INCLUDES = Set.of("reasoning.encrypted_content", "message.output_text.logprobs");

    @Override
    public Ask read(ObjectNode body, Context context) {
        FieldTables.RESPONSES.check(body, "", context.unknown());
        Fields fields = new Fields(body, "");
        fields.text("model");
        List<ToolDef> tools = tools(fields);
        ToolFields choice = toolChoice(fields, tools);
        ChatRequest chat = new ChatRequest(
                messages(fields), tools, thinking(fields, context), choice.choice(), format(fields), List.of(), true);
        return new Ask(
                new Prompt.Chat(chat),
                SamplingFields.read(fields, 2, context.vocabulary()),
                false,
                fields.integer("max_output_tokens", 1, ChatReader.MANY_TOKENS),
                List.of(),
                1,
                logprobs(fields),
                choice.rules(),
                fields.flag("stream", false),
                true);
    }

    private static int logprobs(Fields fields) {
        List<String> include = fields.texts("include");
        for (String item : include) {
            if (!INCLUDES.contains(item)) {
                throw ApiException.invalid("include", "\"" + item + "\" is not supported");
            }
        }
        boolean wanted = include.contains("message.output_text.logprobs");
        var top = fields.integer("top_logprobs", 0, ChatReader.MAX_TOP_LOGPROBS);
        if (top.isPresent() && top.getAsInt() > 0 && !wanted) {
            throw ApiException.invalid("top_logprobs", "needs \"include\": [\"message.output_text.logprobs\"]");
        }
        return wanted ? top.orElse(0) : -1;
    }

    private static Thinking thinking(Fields fields, Context context) {
        FieldTables.REASONING.check(fields.inner("reasoning").whole(), "reasoning", context.unknown());
        String effort = fields.inner("reasoning").text("effort");
        return effort == null ? Thinking.MAX : Thinking.ofEffort(effort, "reasoning.effort");
    }

    private static ResponseFormat format(Fields fields) {
        Fields text = fields.inner("text");
        FieldTables.TEXT.check(text.whole(), "text", unknown -> {
            throw ApiException.invalid(unknown, "unknown field");
        });
        if (!text.has("format")) {
            return new ResponseFormat.Text();
        }
        Fields format = text.inner("format");
        if (!"json_schema".equals(format.needed("type"))) {
            return ChatRequestJson.responseFormat(format.node("type"), format.at("type"));
        }
        format.needed("name");
        format.flag("strict", true);
        if (!format.node("schema").isObject()) {
            throw ApiException.invalid("text.format.schema", "missing: a JSON schema is needed");
        }
        return new ResponseFormat.JsonSchema(format.node("schema"));
    }

    private static ToolFields toolChoice(Fields fields, List<ToolDef> tools) {
        boolean single = !fields.flag("parallel_tool_calls", true);
        if (!fields.node("tool_choice").isObject()) {
            String mode = fields.text("tool_choice");
            return ToolFields.of(mode == null ? "auto" : mode, null, single, tools, "tool_choice");
        }
        Fields given = fields.inner("tool_choice");
        if (!given.needed("type").equals("function")) {
            throw ApiException.invalid("tool_choice.type", "must be \"function\"");
        }
        return ToolFields.of("required", given.needed("name"), single, tools, "tool_choice.name");
    }

    /** Tools are flat here; the prompt declares them in the nested form. */
    private static List<ToolDef> tools(Fields fields) {
        List<ToolDef> tools = new ArrayList<>();
        for (JsonNode node : fields.list("tools")) {
            Fields tool = new Fields(node, "tools[" + tools.size() + "]");
            if (!tool.needed("type").equals("function")) {
                throw ApiException.invalid(
                        tool.at("type"), "\"" + tool.needed("type") + "\" is not supported; only function is");
            }
            ObjectNode function = JsonNodeFactory.instance.objectNode();
            function.put("name", tool.needed("name"));
            for (String name : List.of("description", "parameters", "strict")) {
                if (tool.has(name)) {
                    function.set(name, tool.node(name));
                }
            }
            tool.flag("strict", false);
            tools.add(ToolNames.checked(function, tool.at("name"), tools));
        }
        return tools;
    }

    private static List<Message> messages(Fields fields) {
        Turns turns = new Turns();
        String instructions = fields.text("instructions");
        if (instructions != null) {
            turns.add(Message.System.of(instructions));
        }
        JsonNode input = fields.node("input");
        if (input.isString()) {
            turns.add(Message.User.of(input.stringValue()));
        } else {
            int index = 0;
            for (JsonNode item : fields.list("input")) {
                item(new Fields(item, "input[" + index++ + "]"), turns);
            }
        }
        List<Message> messages = turns.finish();
        if (input.isMissingNode() || messages.isEmpty()) {
            throw ApiException.invalid("input", "missing: a string or at least one item is needed");
        }
        return messages;
    }

    private static void item(Fields item, Turns turns) {
        String type = item.text("type");
        switch (type == null ? "message" : type) {
            case "message" -> message(item, turns);
            case "reasoning" -> turns.reasoning(reasoning(item));
            case "function_call" ->
                turns.call(ToolCall.of(item.needed("call_id"), item.needed("name"), item.needed("arguments")));
            case "function_call_output" ->
                turns.add(new Message.Tool(content(item, "output"), item.needed("call_id"), null));
            default ->
                throw ApiException.invalid(
                        item.at("type"),
                        "items of type \"" + type
                                + "\" are not supported; message, reasoning, function_call and function_call_output"
                                + " are");
        }
    }

    private static void message(Fields item, Turns turns) {
        List<ContentPart> content = content(item, "content");
        switch (item.needed("role")) {
            case "system", "developer" -> turns.add(new Message.System(content, null, List.of()));
            case "user" -> turns.add(new Message.User(content, null));
            case "assistant" -> turns.content(content);
            default -> throw ApiException.invalid(item.at("role"), "must be system, developer, user or assistant");
        }
    }

    /** The reasoning's text; where a client kept only the summary, that. */
    private static String reasoning(Fields item) {
        StringBuilder text = new StringBuilder();
        String from = SamplingFields.says(item.node("content")) ? "content" : "summary";
        for (JsonNode part : item.list(from)) {
            text.append(new Fields(part, item.at(from)).needed("text"));
        }
        return text.toString();
    }

    private static List<ContentPart> content(Fields item, String name) {
        if (item.node(name).isString()) {
            return ContentPart.ofText(item.needed(name));
        }
        List<ContentPart> parts = new ArrayList<>();
        int index = 0;
        for (JsonNode node : item.list(name)) {
            Fields part = new Fields(node, item.at(name) + "[" + index++ + "]");
            switch (part.needed("type")) {
                case "input_text", "output_text", "text" -> parts.add(new ContentPart.Text(part.needed("text")));
                case "refusal" -> parts.add(new ContentPart.Text(part.needed("refusal")));
                default ->
                    throw ApiException.invalid(
                            part.at("type"), "\"" + part.needed("type") + "\" is not supported; send text parts only");
            }
        }
        return parts;
    }
}
