package ai.deltafin.server;

import ai.deltafin.pipeline.FinishReason;
import ai.deltafin.pipeline.GenerationEvent;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The answer of {@code /v1/completions}, streamed or whole. */
final class CompletionsAnswer implements AnswerWriter {

    private final Reply reply;
    private final ChoiceState[] choices;
    private final @Nullable FinishReason[] reasons;
    private final UsageSum usage;

    CompletionsAnswer(Reply reply) {
        this.reply = reply;
        choices = IntStream.range(0, reply.ask().choices())
                .mapToObj(i -> new ChoiceState())
                .toArray(ChoiceState[]::new);
        reasons = new FinishReason[choices.length];
        usage = new UsageSum(reply);
    }

    private ObjectNode head() {
        ObjectNode head = JsonNodeFactory.instance.objectNode();
        head.put("id", reply.id());
        head.put("object", "text_completion");
        head.put("created", reply.created());
        head.put("model", reply.model());
        return head;
    }

    private ObjectNode choice(ObjectNode into, int index, String text, @Nullable FinishReason reason) {
        into.put("index", index);
        into.put("text", text);
        into.putNull("logprobs");
        into.put("finish_reason", reason == null ? null : choices[index].finishReason(reason));
        return into;
    }

    @Override
    public String open() {
        return "";
    }

    @Override
    public String tokens(int choice, GenerationEvent.Tokens tokens) {
        int offset = choices[choice].content.length();
        choices[choice].add(tokens);
        if (tokens.text().isEmpty() && tokens.logprobs().isEmpty()) {
            return "";
        }
        ObjectNode chunk = head();
        ObjectNode only = choice(chunk.putArray("choices").addObject(), choice, tokens.text(), null);
        if (!tokens.logprobs().isEmpty()) {
            only.set("logprobs", Logprobs.columns(tokens.logprobs(), reply.tokenizer(), offset));
        }
        return Sse.data(chunk);
    }

    @Override
    public String finished(int choice, GenerationEvent.Finished finished) {
        reasons[choice] = finished.reason();
        usage.add(finished.usage());
        ObjectNode chunk = head();
        choice(chunk.putArray("choices").addObject(), choice, "", finished.reason());
        return Sse.data(chunk);
    }

    @Override
    public String close() {
        String last = "";
        if (reply.ask().includeUsage()) {
            ObjectNode chunk = head();
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
        ObjectNode body = head();
        ArrayNode array = body.putArray("choices");
        for (int i = 0; i < choices.length; i++) {
            ObjectNode only = choice(array.addObject(), i, choices[i].content.toString(), reasons[i]);
            if (reply.ask().topLogprobs() >= 0) {
                only.set("logprobs", Logprobs.columns(choices[i].logprobs, reply.tokenizer(), 0));
            }
        }
        body.set("usage", usage.chat());
        body.put("seed", reply.ask().sampling().seed());
        return body;
    }
}
