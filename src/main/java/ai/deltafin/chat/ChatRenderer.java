package ai.deltafin.chat;

import ai.deltafin.chat.Segment.Marker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Writes a chat in K3's format, segment by segment, as the released encoder does (there is no template). Grammar:
 * {@code docs/chat.md}. One instance renders one request.
 */
public final class ChatRenderer {

    private static final String PLACEHOLDER = "<|kimi_image_placeholder|>";

    private final ChatRequest request;
    private final Replay replay;
    private final List<Segment> out = new ArrayList<>();
    private int images;

    private ChatRenderer(ChatRequest request, Replay replay) {
        this.request = request;
        this.replay = replay;
    }

    /**
     * The prompt of a chat.
     *
     * @throws ChatException naming the field that cannot be rendered
     */
    public static Rendered render(ChatRequest request) {
        return render(request, Replay.NONE);
    }

    /**
     * The prompt of a chat in which answers that the memory knows stand with the very ids the model generated, so that
     * the state kept behind them still fits, however the client reformatted them.
     *
     * @throws ChatException naming the field that cannot be rendered
     */
    public static Rendered render(ChatRequest request, Replay replay) {
        return new ChatRenderer(request, replay).run();
    }

    private Rendered run() {
        if (!request.tools().isEmpty()) {
            internal("tool-declare", FixedTexts.TOOLS + FixedTexts.jsonBlock(toolsJson(request.tools())));
        }
        if (request.thinking() != Thinking.OFF && request.thinking() != Thinking.UNSTATED) {
            internal("thinking-effort", FixedTexts.effort(request.thinking()));
        }
        boolean continues = messages();
        int history = out.size();
        if (continues) {
            return finished(history);
        }
        options();
        if (request.generationPrompt()) {
            openAnswer(null);
            open(request.thinking().on() ? "think" : "response");
        }
        return finished(history);
    }

    private Rendered finished(int history) {
        if (!request.imagePrompts().isEmpty()
                && images != request.imagePrompts().size()) {
            throw new ChatException(
                    "image_prompts",
                    request.imagePrompts().size() + " prompts for " + images + " images in the messages");
        }
        return new Rendered(out, history);
    }

    private void options() {
        switch (request.toolChoice()) {
            case AUTO -> {}
            case NONE -> internal("tool-choice", FixedTexts.TOOL_CHOICE_NONE);
            case REQUIRED -> internal("tool-choice", FixedTexts.TOOL_CHOICE_REQUIRED);
        }
        switch (request.responseFormat()) {
            case ResponseFormat.Text text -> {}
            case ResponseFormat.JsonObject object ->
                internal("response-format", FixedTexts.responseFormat("json_object"));
            case ResponseFormat.JsonSchema schema ->
                internal(
                        "response-format",
                        FixedTexts.responseFormat("json_schema")
                                + FixedTexts.SCHEMA
                                + FixedTexts.jsonBlock(PythonJson.compactSorted(schema.schema())));
        }
    }

    /** Renders the messages; true if the last one is an answer that generation continues. */
    private boolean messages() {
        ToolResults results = new ToolResults(request.messages());
        int last = request.messages().size() - 1;
        for (int i = 0; i <= last; i++) {
            String field = "messages[" + i + "]";
            switch (request.messages().get(i)) {
                case Message.System system -> system(system, field);
                case Message.User user -> {
                    openMessage("user", user.name());
                    content(user.content());
                    end();
                }
                case Message.Assistant assistant
                when assistant.partial() -> {
                    if (i < last || !request.generationPrompt()) {
                        throw new ChatException(field + ".partial", "only the last message can be continued");
                    }
                    options();
                    partial(assistant, field);
                    return true;
                }
                case Message.Assistant assistant -> assistant(assistant, field);
                case Message.Tool tool -> {
                    ToolResults.Placed placed = results.at(i);
                    open("message", "role", "tool", "tool", placed.tool(), "index", "" + placed.index());
                    content(placed.message().content());
                    end();
                }
                case Message.Unknown unknown -> {}
            }
        }
        return false;
    }

    private void system(Message.System system, String field) {
        if (system.tools().isEmpty()) {
            openMessage("system", system.name());
            content(system.content());
            end();
        } else if (system.content().isEmpty()) {
            internal("tool-declare", FixedTexts.MORE_TOOLS + FixedTexts.jsonBlock(toolsJson(system.tools())));
        } else {
            throw new ChatException(
                    field + ".content", "a system message that declares tools has no content; send two messages");
        }
    }

    private void partial(Message.Assistant assistant, String field) {
        if (!assistant.calls().isEmpty()) {
            throw new ChatException(field + ".tool_calls", "an answer to be continued has no tool calls");
        }
        openAnswer(assistant.name());
        think(assistant.reasoning());
        open("response");
        content(assistant.content());
    }

    private void assistant(Message.Assistant assistant, String field) {
        Segment.@Nullable Replay generated = assistant.name() == null
                ? replay.find(assistant, request.thinking().on())
                : null;
        openAnswer(assistant.name());
        if (generated != null) {
            open(request.thinking().on() ? "think" : "response");
            out.add(generated);
            return;
        }
        think(assistant.reasoning());
        open("response");
        content(assistant.content());
        close("response");
        if (!assistant.calls().isEmpty()) {
            open("tools");
            for (int i = 0; i < assistant.calls().size(); i++) {
                call(assistant.calls().get(i), i + 1, field + ".tool_calls[" + i + "]");
            }
            close("tools");
        }
        end();
    }

    private void think(String reasoning) {
        if (request.thinking().on()) {
            open("think");
            if (!PythonText.isBlank(reasoning)) {
                text(reasoning);
            }
            close("think");
        }
    }

    private void call(ToolCall call, int index, String field) {
        open("call", "tool", call.name(), "index", "" + index);
        switch (call.arguments()) {
            case ToolCall.Arguments.Parsed parsed -> arguments(parsed.object());
            case ToolCall.Arguments.Text text -> {
                if (!PythonText.isBlank(text.json())) {
                    argumentsText(text.json(), field + ".function.arguments");
                }
            }
        }
        close("call");
    }

    private void argumentsText(String json, String field) {
        JsonNode parsed;
        try {
            parsed = PythonJson.READER.readTree(json);
        } catch (JacksonException e) {
            open("json", "type", "object");
            text(json);
            close("json");
            return;
        }
        if (!parsed.isObject()) {
            throw new ChatException(field, "must be the text of a JSON object, found " + parsed.getNodeType());
        }
        arguments(parsed);
    }

    private void arguments(JsonNode object) {
        for (Map.Entry<String, JsonNode> argument : object.properties()) {
            JsonNode value = argument.getValue();
            open("argument", "key", argument.getKey(), "type", typeOf(value));
            text(value.isString() ? value.stringValue() : PythonJson.spaced(value));
            close("argument");
        }
    }

    private static String typeOf(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> "string";
            case NUMBER -> "number";
            case BOOLEAN -> "boolean";
            case ARRAY -> "array";
            case OBJECT -> "object";
            default -> "null";
        };
    }

    private static String toolsJson(List<ToolDef> tools) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        tools.forEach(tool -> array.add(tool.json()));
        return PythonJson.compactSorted(array);
    }

    private void internal(String type, String text) {
        open("message", "role", "system", "type", type);
        text(PythonText.strip(text));
        end();
    }

    private void openAnswer(@Nullable String name) {
        openMessage("assistant", name);
    }

    private void openMessage(String role, @Nullable String name) {
        if (name == null || name.isEmpty()) {
            open("message", "role", role);
        } else {
            open("message", "role", role, "name", name);
        }
    }

    private void end() {
        close("message");
        out.add(new Segment.Control(Marker.END_OF_MESSAGE));
    }

    /** Opens an element; names and values alternate. Each of the four parts of an attribute is a segment. */
    private void open(String tag, String... attributes) {
        out.add(new Segment.Control(Marker.OPEN));
        plain(tag);
        for (int i = 0; i < attributes.length; i += 2) {
            plain(" " + attributes[i]);
            plain("=\"");
            plain(attributes[i + 1].replace("&", "&amp;").replace("\"", "&quot;"));
            plain("\"");
        }
        out.add(new Segment.Control(Marker.SEP));
    }

    private void close(String tag) {
        out.add(new Segment.Control(Marker.CLOSE));
        plain(tag);
        out.add(new Segment.Control(Marker.SEP));
    }

    private void plain(String text) {
        if (!text.isEmpty()) {
            out.add(new Segment.Text(text));
        }
    }

    private void content(List<ContentPart> parts) {
        for (ContentPart part : parts) {
            switch (part) {
                case ContentPart.Text text -> text(text.text());
                case ContentPart.Image image -> image();
            }
        }
    }

    /** Text of a message, in which a placeholder stands for an image where there are image prompts. */
    private void text(String text) {
        int start = 0;
        if (!request.imagePrompts().isEmpty()) {
            for (int at; (at = text.indexOf(PLACEHOLDER, start)) >= 0; start = at + PLACEHOLDER.length()) {
                plain(text.substring(start, at));
                image();
            }
        }
        plain(text.substring(start));
    }

    private void image() {
        if (request.imagePrompts().isEmpty()) {
            plain(PLACEHOLDER);
        } else if (images < request.imagePrompts().size()) {
            String prompt = request.imagePrompts().get(images++);
            if (!prompt.isEmpty()) {
                out.add(new Segment.Raw(prompt));
            }
        } else {
            throw new ChatException("image_prompts", images + " prompts are too few for the images in the messages");
        }
    }
}
