package ai.deltafin.server;

import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.pipeline.FinishReason;
import ai.deltafin.pipeline.GenerationEvent;
import ai.deltafin.pipeline.Logprob;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer of {@code /v1/responses}, streamed or whole: items of reasoning, message and function call. */
final class ResponsesAnswer implements AnswerWriter {

    private final Reply reply;
    private final ChoiceState state = new ChoiceState();
    private final UsageSum usage;
    private final ArrayNode output = JsonNodeFactory.instance.arrayNode();
    private final StringBuilder text = new StringBuilder();
    private final List<Logprob> logprobs = new ArrayList<>();
    private @Nullable FinishReason reason;
    private @Nullable ObjectNode item;
    private int sequence;

    ResponsesAnswer(Reply reply) {
        this.reply = reply;
        usage = new UsageSum(reply);
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    private ObjectNode response(String status) {
        ObjectNode response = object();
        response.put("id", reply.id());
        response.put("object", "response");
        response.put("created_at", reply.created());
        response.put("status", status);
        response.put("model", reply.model());
        response.putNull("error");
        response.putNull("incomplete_details");
        response.putNull("instructions");
        response.putObject("metadata");
        response.set("output", output.deepCopy());
        response.put("parallel_tool_calls", !reply.ask().calls().single());
        response.put("temperature", reply.ask().sampling().temperature());
        response.put("top_p", reply.ask().sampling().topP());
        response.put("tool_choice", "auto");
        response.putArray("tools");
        response.put("store", false);
        if (reason != null) {
            response.set("usage", usage.responses());
        } else {
            response.putNull("usage");
        }
        return response;
    }

    private String event(String type, ObjectNode data) {
        ObjectNode event = object();
        event.put("type", type);
        event.put("sequence_number", sequence++);
        event.setAll(data);
        return Sse.event(type, event);
    }

    private String state(String type, String status) {
        ObjectNode data = object();
        data.set("response", response(status));
        return event(type, data);
    }

    @Override
    public String open() {
        return state("response.created", "in_progress") + state("response.in_progress", "in_progress");
    }

    @Override
    public String tokens(int choice, GenerationEvent.Tokens tokens) {
        state.add(tokens);
        StringBuilder out = new StringBuilder();
        List<Logprob> fresh = tokens.logprobs();
        for (AnswerEvent event : tokens.parsed()) {
            switch (event) {
                case AnswerEvent.ReasoningDelta d -> {
                    out.append(in("reasoning"));
                    text.append(d.text());
                    out.append(
                            event("response.reasoning_text.delta", place(true).put("delta", d.text())));
                }
                case AnswerEvent.ContentDelta d -> {
                    out.append(in("message"));
                    text.append(d.text());
                    logprobs.addAll(fresh);
                    ObjectNode data = place(true).put("delta", d.text());
                    data.set("logprobs", Logprobs.entries(fresh, reply.tokenizer()));
                    fresh = List.of();
                    out.append(event("response.output_text.delta", data));
                }
                case AnswerEvent.ToolCallStarted call -> {
                    ObjectNode begun = object().put("type", "function_call").put("id", Reply.fresh("fc_"));
                    begun.put("call_id", call.id()).put("name", call.name()).put("arguments", "");
                    out.append(begin(begun));
                }
                case AnswerEvent.ToolArgumentsDelta d -> {
                    text.append(d.json());
                    out.append(event(
                            "response.function_call_arguments.delta",
                            place(false).put("delta", d.json())));
                }
                case AnswerEvent.ToolCallEnded end -> out.append(end("completed"));
                case AnswerEvent.ToolCallCut cut -> out.append(end("incomplete"));
                case AnswerEvent.Finished end -> {}
            }
        }
        return out.toString();
    }

    private ObjectNode place(boolean part) {
        ObjectNode place = object();
        place.put("item_id", item == null ? "" : item.path("id").asString(""));
        place.put("output_index", output.size());
        if (part) {
            place.put("content_index", 0);
        }
        return place;
    }

    /** Goes on with an item of the type, or begins one. */
    private String in(String type) {
        if (item != null && item.path("type").asString("").equals(type)) {
            return "";
        }
        ObjectNode begun = object().put("type", type);
        if (type.equals("reasoning")) {
            begun.put("id", Reply.fresh("rs_"));
            begun.putArray("summary");
            begun.putArray("content");
        } else {
            begun.put("id", Reply.fresh("msg_"));
            begun.put("role", "assistant");
            begun.putArray("content");
        }
        String opened = begin(begun);
        ObjectNode data = place(true);
        data.set("part", part(""));
        return opened + event("response.content_part.added", data);
    }

    private String begin(ObjectNode begun) {
        String before = end("completed");
        begun.put("status", "in_progress");
        item = begun;
        ObjectNode data = object().put("output_index", output.size());
        data.set("item", begun.deepCopy());
        return before + event("response.output_item.added", data);
    }

    private boolean isType(String type) {
        return item != null && item.path("type").asString("").equals(type);
    }

    private ObjectNode part(String said) {
        if (isType("reasoning")) {
            return object().put("type", "reasoning_text").put("text", said);
        }
        ObjectNode part = object().put("type", "output_text").put("text", said);
        part.putArray("annotations");
        part.set("logprobs", Logprobs.entries(logprobs, reply.tokenizer()));
        return part;
    }

    /** Ends the open item, if there is one. */
    private String end(String status) {
        ObjectNode done = item;
        if (done == null) {
            return "";
        }
        String said = text.toString();
        StringBuilder out = new StringBuilder();
        if (isType("function_call")) {
            done.put("arguments", said);
            out.append(event(
                    "response.function_call_arguments.done",
                    place(false).put("name", done.path("name").asString("")).put("arguments", said)));
        } else {
            String kind = isType("reasoning") ? "response.reasoning_text.done" : "response.output_text.done";
            ObjectNode data = place(true).put("text", said);
            if (isType("message")) {
                data.set("logprobs", Logprobs.entries(logprobs, reply.tokenizer()));
            }
            out.append(event(kind, data));
            ObjectNode ended = place(true);
            ended.set("part", part(said));
            out.append(event("response.content_part.done", ended));
            ((ArrayNode) done.get("content")).add(part(said));
        }
        done.put("status", status);
        ObjectNode data = object().put("output_index", output.size());
        data.set("item", done.deepCopy());
        out.append(event("response.output_item.done", data));
        output.add(done);
        item = null;
        text.setLength(0);
        logprobs.clear();
        return out.toString();
    }

    private boolean complete() {
        return reason == FinishReason.END || reason == FinishReason.STOP;
    }

    @Override
    public String finished(int choice, GenerationEvent.Finished finished) {
        reason = finished.reason();
        usage.add(finished.usage());
        return end(complete() ? "completed" : "incomplete");
    }

    @Override
    public String close() {
        ObjectNode data = object();
        data.set("response", body());
        return event(complete() ? "response.completed" : "response.incomplete", data);
    }

    @Override
    public String heartbeat(String progress) {
        return Sse.comment(progress);
    }

    @Override
    public String error(ApiException e) {
        ObjectNode response = response("failed");
        response.putObject("error").put("code", "server_error").put("message", e.text());
        ObjectNode data = object();
        data.set("response", response);
        return event("response.failed", data);
    }

    @Override
    public ObjectNode body() {
        ObjectNode body = response(complete() ? "completed" : "incomplete");
        if (!complete()) {
            body.putObject("incomplete_details").put("reason", "max_output_tokens");
        }
        return body;
    }
}
