package ai.deltafin.server;

import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.pipeline.FinishReason;
import ai.deltafin.pipeline.GenerationEvent;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer of {@code /v1/chat/completions}, streamed or whole. */
final class ChatAnswer implements AnswerWriter {

    private final Reply reply;
    private final ChoiceState[] choices;
    private final @Nullable FinishReason[] reasons;
    private final UsageSum usage;

    ChatAnswer(Reply reply) {
        this.reply = reply;
        choices = IntStream.range(0, reply.ask().choices())
                .mapToObj(i -> new ChoiceState())
                .toArray(ChoiceState[]::new);
        reasons = new FinishReason[choices.length];
        usage = new UsageSum(reply);
    }

    private ObjectNode head(String object) {
        ObjectNode head = JsonNodeFactory.instance.objectNode();
        head.put("id", reply.id());
        head.put("object", object);
        head.put("created", reply.created());
        head.put("model", reply.model());
        return head;
    }

    private ObjectNode chunk(int choice, ObjectNode delta, @Nullable String finishReason) {
        ObjectNode chunk = head("chat.completion.chunk");
        ObjectNode only = chunk.putArray("choices").addObject();
        only.put("index", choice);
        only.set("delta", delta);
        only.putNull("logprobs");
        only.put("finish_reason", finishReason);
        if (reply.ask().includeUsage()) {
            chunk.putNull("usage");
        }
        return chunk;
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Override
    public String open() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < choices.length; i++) {
            ObjectNode delta = object();
            delta.put("role", "assistant");
            delta.put("content", "");
            out.append(Sse.data(chunk(i, delta, null)));
        }
        return out.toString();
    }

    @Override
    public String tokens(int choice, GenerationEvent.Tokens tokens) {
        choices[choice].add(tokens);
        StringBuilder out = new StringBuilder();
        ArrayNode logprobs =
                tokens.logprobs().isEmpty() ? null : Logprobs.entries(tokens.logprobs(), reply.tokenizer());
        for (AnswerEvent event : tokens.parsed()) {
            ObjectNode delta = delta(event);
            if (delta != null) {
                out.append(frame(choice, delta, logprobs));
                logprobs = null;
            }
        }
        return out.append(logprobs == null ? "" : frame(choice, object(), logprobs))
                .toString();
    }

    private String frame(int choice, ObjectNode delta, @Nullable ArrayNode logprobs) {
        ObjectNode chunk = chunk(choice, delta, null);
        if (logprobs != null) {
            ObjectNode only = (ObjectNode) chunk.get("choices").get(0);
            only.putObject("logprobs").set("content", logprobs);
        }
        return Sse.data(chunk);
    }

    private static @Nullable ObjectNode delta(AnswerEvent event) {
        return switch (event) {
            case AnswerEvent.ReasoningDelta d -> object().put("reasoning_content", d.text());
            case AnswerEvent.ContentDelta d -> object().put("content", d.text());
            case AnswerEvent.ToolCallStarted call -> {
                ObjectNode delta = call(call.index(), "");
                ObjectNode made = (ObjectNode) delta.get("tool_calls").get(0);
                made.put("id", call.id());
                made.put("type", "function");
                ((ObjectNode) made.get("function")).put("name", call.name());
                yield delta;
            }
            case AnswerEvent.ToolArgumentsDelta d -> call(d.index(), d.json());
            case AnswerEvent.ToolCallEnded end -> null;
            case AnswerEvent.ToolCallCut cut -> null;
            case AnswerEvent.Finished end -> null;
        };
    }

    private static ObjectNode call(int index, String arguments) {
        ObjectNode delta = object();
        ObjectNode call = delta.putArray("tool_calls").addObject();
        call.put("index", index);
        call.putObject("function").put("arguments", arguments);
        return delta;
    }

    @Override
    public String finished(int choice, GenerationEvent.Finished finished) {
        reasons[choice] = finished.reason();
        usage.add(finished.usage());
        return Sse.data(chunk(choice, object(), choices[choice].finishReason(finished.reason())));
    }

    @Override
    public String close() {
        String last = "";
        if (reply.ask().includeUsage()) {
            ObjectNode chunk = head("chat.completion.chunk");
            chunk.putArray("choices");
            chunk.set("usage", usage.chat());
            last = Sse.data(chunk);
        }
        return last + Sse.DONE;
    }

    @Override
    public String heartbeat(String progress) {
        return Sse.comment(progress);
    }

    @Override
    public String error(ApiException e) {
        return Sse.data(ErrorShape.OPENAI.body(e));
    }

    @Override
    public ObjectNode body() {
        ObjectNode body = head("chat.completion");
        ArrayNode array = body.putArray("choices");
        for (int i = 0; i < choices.length; i++) {
            ObjectNode choice = array.addObject();
            choice.put("index", i);
            message(choice.putObject("message"), choices[i]);
            if (reply.ask().topLogprobs() < 0) {
                choice.putNull("logprobs");
            } else {
                choice.putObject("logprobs").set("content", Logprobs.entries(choices[i].logprobs, reply.tokenizer()));
            }
            FinishReason reason = reasons[i];
            choice.put("finish_reason", reason == null ? null : choices[i].finishReason(reason));
        }
        body.set("usage", usage.chat());
        body.put("seed", reply.ask().sampling().seed());
        return body;
    }

    private static void message(ObjectNode message, ChoiceState state) {
        message.put("role", "assistant");
        if (!state.reasoning.isEmpty()) {
            message.put("reasoning_content", state.reasoning.toString());
        }
        boolean calls = !state.endedCalls().isEmpty();
        message.put("content", calls && state.content.isEmpty() ? null : state.content.toString());
        message.putNull("refusal");
        if (calls) {
            ArrayNode array = message.putArray("tool_calls");
            for (ChoiceState.Call call : state.endedCalls()) {
                ObjectNode made = array.addObject();
                made.put("id", call.id);
                made.put("type", "function");
                made.putObject("function").put("name", call.name).put("arguments", call.arguments.toString());
            }
        }
    }
}
