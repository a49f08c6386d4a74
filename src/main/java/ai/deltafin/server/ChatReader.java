package ai.deltafin.server;

import ai.deltafin.chat.ChatException;
import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.ChatRequestJson;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.MessagesJson;
import ai.deltafin.chat.ResponseFormat;
import ai.deltafin.chat.Thinking;
import ai.deltafin.chat.ToolDef;
import ai.deltafin.pipeline.Prompt;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads {@code POST /v1/chat/completions}. */
final class ChatReader implements RequestReader {

    /** Most choices of a request. */
    static final int MAX_CHOICES = 4;

    static final int MAX_TOP_LOGPROBS = 20;

    /** More than any context holds. */
    static final int MANY_TOKENS = 1 << 30;

    @Override
    public Ask read(ObjectNode body, Context context) {
        FieldTables.CHAT.check(body, "", context.unknown());
        Fields fields = new Fields(body, "");
        fields.text("model");
        MessagesJson json = new MessagesJson(MessagesJson.Dialect.OPENAI, context.unknown());
        List<Message> messages = messages(json, fields);
        List<ToolDef> tools = json.tools(fields.node("tools"), "tools");
        checkStrict(tools);
        ToolFields choice = toolChoice(fields, tools);
        ChatRequest chat = new ChatRequest(
                messages, tools, thinking(fields, context), choice.choice(), responseFormat(fields), List.of(), true);
        chat.requireTextOnly();
        boolean stream = fields.flag("stream", false);
        return new Ask(
                new Prompt.Chat(chat),
                SamplingFields.read(fields, 2, context.vocabulary()),
                fields.has("seed"),
                maxTokens(fields),
                SamplingFields.stops(fields, "stop"),
                fields.integer("n", 1, MAX_CHOICES).orElse(1),
                logprobs(fields),
                choice.rules(),
                stream,
                includeUsage(fields, stream, context));
    }

    private static List<Message> messages(MessagesJson json, Fields fields) {
        if (fields.list("messages").isEmpty()) {
            throw ApiException.invalid("messages", "missing: at least one message is needed");
        }
        return json.messages(fields.node("messages"), "messages").stream()
                .map(m -> m instanceof Message.Assistant answer ? answer.withThinkTagsAsReasoning() : m)
                .toList();
    }

    private static OptionalInt maxTokens(Fields fields) {
        OptionalInt newer = fields.integer("max_completion_tokens", 1, MANY_TOKENS);
        OptionalInt older = fields.integer("max_tokens", 1, MANY_TOKENS);
        return newer.isPresent() ? newer : older;
    }

    private static int logprobs(Fields fields) {
        boolean wanted = fields.flag("logprobs", false);
        OptionalInt top = fields.integer("top_logprobs", 0, MAX_TOP_LOGPROBS);
        if (top.isPresent() && top.getAsInt() > 0 && !wanted) {
            throw ApiException.invalid("top_logprobs", "needs \"logprobs\": true");
        }
        return wanted ? top.orElse(0) : -1;
    }

    /** Whether the last chunk of a stream tells the usage. */
    static boolean includeUsage(Fields fields, boolean stream, Context context) {
        if (!fields.has("stream_options")) {
            return false;
        }
        if (!stream) {
            throw ApiException.invalid("stream_options", "only allowed with \"stream\": true");
        }
        Fields options = fields.inner("stream_options");
        FieldTables.STREAM_OPTIONS.check(options.whole(), "stream_options", context.unknown());
        return options.flag("include_usage", false);
    }

    private static void checkStrict(List<ToolDef> tools) {
        for (int i = 0; i < tools.size(); i++) {
            JsonNode strict = tools.get(i).json().path("function").path("strict");
            if (!strict.isMissingNode() && !strict.isNull() && !strict.isBoolean()) {
                throw ApiException.invalid("tools[" + i + "].function.strict", "must be true or false");
            }
        }
    }

    private static ToolFields toolChoice(Fields fields, List<ToolDef> tools) {
        boolean single = !fields.flag("parallel_tool_calls", true);
        JsonNode choice = fields.node("tool_choice");
        if (!choice.isObject()) {
            String mode = fields.text("tool_choice");
            return ToolFields.of(mode == null ? "auto" : mode, null, single, tools, "tool_choice");
        }
        Fields given = fields.inner("tool_choice");
        if (!given.needed("type").equals("function")) {
            throw ApiException.invalid("tool_choice.type", "must be \"function\"");
        }
        String name = given.inner("function").needed("name");
        return ToolFields.of("required", name, single, tools, "tool_choice.function.name");
    }

    private static ResponseFormat responseFormat(Fields fields) {
        JsonNode format = fields.node("response_format");
        ResponseFormat read = ChatRequestJson.responseFormat(format, "response_format");
        if (read instanceof ResponseFormat.JsonSchema && format.isObject()) {
            Fields schema = fields.inner("response_format").inner("json_schema");
            schema.needed("name");
            schema.flag("strict", true);
            if (!schema.has("schema")) {
                throw ApiException.invalid("response_format.json_schema.schema", "missing: a JSON schema is needed");
            }
        }
        return read;
    }

    private static Thinking thinking(Fields fields, Context context) {
        Thinking thinking = Thinking.MAX;
        String effort = fields.text("reasoning_effort");
        if (effort != null) {
            thinking = Thinking.ofEffort(effort, "reasoning_effort");
        }
        if (fields.has("thinking")) {
            thinking = thinkingObject(fields.inner("thinking"), thinking);
        }
        FieldTables.TEMPLATE.check(
                fields.inner("chat_template_kwargs").whole(), "chat_template_kwargs", context.unknown());
        FieldTables.THINKING.check(fields.inner("thinking").whole(), "thinking", context.unknown());
        return fields.has("chat_template_kwargs") ? template(fields.inner("chat_template_kwargs"), thinking) : thinking;
    }

    private static Thinking thinkingObject(Fields given, Thinking otherwise) {
        String type = given.text("type");
        if (type != null && !List.of("enabled", "disabled").contains(type)) {
            throw ApiException.invalid(given.at("type"), "must be enabled or disabled");
        }
        if ("disabled".equals(type)) {
            return Thinking.OFF;
        }
        String keep = given.text("keep");
        if (keep != null && !keep.equals("all")) {
            throw ApiException.invalid(given.at("keep"), "must be \"all\": earlier reasoning always stays");
        }
        return effort(given, "effort", otherwise.on() ? otherwise : Thinking.MAX);
    }

    private static Thinking template(Fields given, Thinking otherwise) {
        boolean on = given.flag("thinking", given.flag("enable_thinking", otherwise.on()));
        if (!on) {
            return Thinking.OFF;
        }
        return effort(given, "thinking_effort", otherwise.on() ? otherwise : Thinking.MAX);
    }

    private static Thinking effort(Fields given, String name, Thinking otherwise) {
        @Nullable String effort = given.text(name);
        return effort == null ? otherwise : Thinking.ofEffort(effort, given.at(name));
    }

    /** A chat's own refusal as an API error. */
    static ApiException refusal(ChatException e) {
        String message = String.valueOf(e.getMessage());
        String prefix = e.field() + ": ";
        return ApiException.invalid(
                e.field(), message.startsWith(prefix) ? message.substring(prefix.length()) : message);
    }
}
