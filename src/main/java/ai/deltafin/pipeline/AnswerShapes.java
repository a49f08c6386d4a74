package ai.deltafin.pipeline;

import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.ResponseFormat;
import ai.deltafin.chat.Tokenizer;
import ai.deltafin.chat.ToolChoice;
import ai.deltafin.chat.ToolDef;
import ai.deltafin.engine.sampling.AnswerShape;
import ai.deltafin.engine.sampling.Constraint;
import ai.deltafin.engine.sampling.SchemaException;
import ai.deltafin.engine.sampling.Vocabulary;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Turns what a chat request promises its client about form and tool calls into constraints on decoding. */
final class AnswerShapes {

    private final Tokenizer tokenizer;
    private final AnswerShape.Markers markers;

    /** Sorting 160,000 tokens takes a moment and most requests need none of it. */
    private volatile @Nullable Vocabulary vocabulary;

    AnswerShapes(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        var controls = tokenizer.controls();
        markers = new AnswerShape.Markers(controls.open(), controls.close(), controls.sep(), controls.endOfMessage());
    }

    /**
     * The constraint on the answer to a chat; {@link Constraint#NONE} where the request promises nothing.
     *
     * @throws RequestException naming the schema that decoding cannot be held to
     */
    Constraint constraint(ChatRequest chat, CallRules rules) {
        List<AnswerShape.Tool> tools = tools(chat);
        boolean free = chat.responseFormat() instanceof ResponseFormat.Text;
        boolean bound = !free
                || chat.toolChoice() == ToolChoice.REQUIRED
                || rules.onlyTool() != null
                || (!tools.isEmpty()
                        && (chat.toolChoice() == ToolChoice.NONE
                                || rules.single()
                                || tools.stream().anyMatch(AnswerShape.Tool::strict)));
        if (!bound) {
            return Constraint.NONE;
        }
        refusePartial(chat);
        try {
            return shape(chat, rules, tools).constraint(vocabulary(), markers);
        } catch (SchemaException e) {
            String field = free ? "tools" : "response_format";
            throw new RequestException(field, "the schema cannot be enforced: " + e.getMessage(), e);
        }
    }

    private static void refusePartial(ChatRequest chat) {
        if (!chat.messages().isEmpty()
                && chat.messages().getLast() instanceof Message.Assistant last
                && last.partial()) {
            throw new RequestException(
                    "messages", "an answer that is continued cannot be held to a form or a tool choice");
        }
    }

    private static AnswerShape shape(ChatRequest chat, CallRules rules, List<AnswerShape.Tool> tools) {
        String only = rules.onlyTool();
        AnswerShape.Calls calls;
        if (tools.isEmpty() || chat.toolChoice() == ToolChoice.NONE) {
            calls = AnswerShape.Calls.FORBIDDEN;
        } else if (only != null || chat.toolChoice() == ToolChoice.REQUIRED) {
            calls = AnswerShape.Calls.REQUIRED;
        } else {
            calls = AnswerShape.Calls.ALLOWED;
        }
        List<AnswerShape.Tool> callable = only == null
                ? tools
                : tools.stream().filter(tool -> tool.name().equals(only)).toList();
        AnswerShape.Response response = switch (chat.responseFormat()) {
            case ResponseFormat.Text text -> new AnswerShape.Response.Free();
            case ResponseFormat.JsonObject object -> new AnswerShape.Response.JsonObject();
            case ResponseFormat.JsonSchema schema -> new AnswerShape.Response.Schema(schema.schema());
        };
        return new AnswerShape(chat.thinking().on(), response, callable, calls, rules.single());
    }

    /** Every tool that is declared, at the front or by a message. */
    private static List<AnswerShape.Tool> tools(ChatRequest chat) {
        List<ToolDef> declared = new ArrayList<>(chat.tools());
        chat.messages().forEach(message -> {
            if (message instanceof Message.System system) {
                declared.addAll(system.tools());
            }
        });
        return declared.stream().map(AnswerShapes::tool).toList();
    }

    private static AnswerShape.Tool tool(ToolDef declared) {
        JsonNode function = declared.json().path("function");
        String name = declared.name();
        JsonNode parameters = function.path("parameters");
        return new AnswerShape.Tool(
                name == null ? "" : name,
                parameters.isObject() ? parameters : null,
                function.path("strict").asBoolean(false));
    }

    private Vocabulary vocabulary() {
        Vocabulary known = vocabulary;
        if (known == null) {
            known = new Vocabulary(tokenizer.controls().base(), tokenizer::bytes);
            vocabulary = known;
        }
        return known;
    }
}
