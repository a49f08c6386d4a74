package ai.deltafin.server;

import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.pipeline.FinishReason;
import ai.deltafin.pipeline.GenerationEvent;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer of {@code /v1/messages}, streamed or whole: blocks of thinking, text and tool use. */
final class MessagesAnswer implements AnswerWriter {

    /** Thinking blocks carry a signature; ours says nothing, since nothing has to be proved here. */
    private static final String SIGNATURE = "deltafin";

    private final Reply reply;
    private final ChoiceState state = new ChoiceState();
    private final UsageSum usage;
    private @Nullable FinishReason reason;
    private @Nullable String stopString;
    private int index = -1;
    private String block = "";

    MessagesAnswer(Reply reply) {
        this.reply = reply;
        usage = new UsageSum(reply);
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    private ObjectNode message() {
        ObjectNode message = object();
        message.put("id", reply.id());
        message.put("type", "message");
        message.put("role", "assistant");
        message.put("model", reply.model());
        message.putArray("content");
        message.putNull("stop_reason");
        message.putNull("stop_sequence");
        message.set("usage", usage.messages());
        return message;
    }

    private static String event(String name, ObjectNode data) {
        ObjectNode event = object();
        event.put("type", name);
        event.setAll(data);
        return Sse.event(name, event);
    }

    @Override
    public String open() {
        ObjectNode start = object();
        start.set("message", message());
        return event("message_start", start);
    }

    @Override
    public String tokens(int choice, GenerationEvent.Tokens tokens) {
        state.add(tokens);
        StringBuilder out = new StringBuilder();
        for (AnswerEvent event : tokens.parsed()) {
            switch (event) {
                case AnswerEvent.ReasoningDelta d ->
                    out.append(in(
                                    "thinking",
                                    object().put("type", "thinking")
                                            .put("thinking", "")
                                            .put("signature", "")))
                            .append(delta("thinking_delta", "thinking", d.text()));
                case AnswerEvent.ContentDelta d ->
                    out.append(in("text", object().put("type", "text").put("text", "")))
                            .append(delta("text_delta", "text", d.text()));
                case AnswerEvent.ToolCallStarted call -> {
                    ObjectNode begun = object().put("type", "tool_use")
                            .put("id", call.id())
                            .put("name", call.name());
                    begun.putObject("input");
                    out.append(in("tool " + call.index(), begun));
                }
                case AnswerEvent.ToolArgumentsDelta d ->
                    out.append(delta("input_json_delta", "partial_json", d.json()));
                case AnswerEvent.ToolCallEnded end -> out.append(leave());
                case AnswerEvent.ToolCallCut cut -> {}
                case AnswerEvent.Finished end -> {}
            }
        }
        return out.toString();
    }

    /** Opens a block unless it is open already. */
    private String in(String wanted, ObjectNode begun) {
        if (block.equals(wanted)) {
            return "";
        }
        String before = leave();
        block = wanted;
        index++;
        ObjectNode start = object().put("index", index);
        start.set("content_block", begun);
        return before + event("content_block_start", start);
    }

    private String leave() {
        if (block.isEmpty()) {
            return "";
        }
        String signature = block.equals("thinking") ? delta("signature_delta", "signature", SIGNATURE) : "";
        block = "";
        return signature + event("content_block_stop", object().put("index", index));
    }

    private String delta(String type, String field, String text) {
        ObjectNode data = object().put("index", index);
        data.putObject("delta").put("type", type).put(field, text);
        return event("content_block_delta", data);
    }

    @Override
    public String finished(int choice, GenerationEvent.Finished finished) {
        reason = finished.reason();
        stopString = finished.stop();
        usage.add(finished.usage());
        return leave();
    }

    private String stopReason() {
        return switch (reason == null ? FinishReason.CANCELLED : reason) {
            case END -> state.endedCalls().isEmpty() ? "end_turn" : "tool_use";
            case STOP -> "stop_sequence";
            case LENGTH, CANCELLED -> "max_tokens";
        };
    }

    @Override
    public String close() {
        ObjectNode data = object();
        data.putObject("delta").put("stop_reason", stopReason()).put("stop_sequence", stopString);
        data.set("usage", usage.messages());
        return event("message_delta", data) + event("message_stop", object());
    }

    @Override
    public String heartbeat(String progress) {
        return Sse.comment(progress) + event("ping", object());
    }

    @Override
    public String error(ApiException e) {
        return Sse.event("error", ErrorShape.ANTHROPIC.body(e));
    }

    @Override
    public ObjectNode body() {
        ObjectNode message = message();
        ArrayNode content = message.putArray("content");
        if (!state.reasoning.isEmpty()) {
            content.addObject()
                    .put("type", "thinking")
                    .put("thinking", state.reasoning.toString())
                    .put("signature", SIGNATURE);
        }
        if (!state.content.isEmpty()) {
            content.addObject().put("type", "text").put("text", state.content.toString());
        }
        for (ChoiceState.Call call : state.endedCalls()) {
            content.addObject()
                    .put("type", "tool_use")
                    .put("id", call.id)
                    .put("name", call.name)
                    .set("input", input(call.arguments.toString()));
        }
        message.put("stop_reason", stopReason());
        message.put("stop_sequence", stopString);
        return message;
    }

    /** Arguments as an object; text that is none is handed on in one field, so that nothing the model said is lost. */
    private static ObjectNode input(String arguments) {
        try {
            if (JsonMapper.shared().readTree(arguments) instanceof ObjectNode object) {
                return object;
            }
        } catch (JacksonException e) {
            // handed on below
        }
        return object().put("raw_arguments", arguments);
    }
}
