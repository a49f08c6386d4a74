package ai.deltafin.server;

import ai.deltafin.chat.Tokenizer;
import ai.deltafin.pipeline.Logprob;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Log-probabilities as the OpenAI APIs write them. */
final class Logprobs {

    private Logprobs() {}

    /** {@code [{token, logprob, bytes, top_logprobs}]}, of chat and Responses. */
    static ArrayNode entries(List<Logprob> logprobs, Tokenizer tokenizer) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        for (Logprob logprob : logprobs) {
            ObjectNode entry = array.addObject();
            token(entry, logprob, tokenizer);
            ArrayNode top = entry.putArray("top_logprobs");
            logprob.top().forEach(other -> token(top.addObject(), other, tokenizer));
        }
        return array;
    }

    private static void token(ObjectNode entry, Logprob logprob, Tokenizer tokenizer) {
        byte[] bytes = bytes(logprob.id(), tokenizer);
        entry.put("token", new String(bytes, StandardCharsets.UTF_8));
        entry.put("logprob", logprob.logprob());
        ArrayNode array = entry.putArray("bytes");
        for (byte b : bytes) {
            array.add(b & 0xFF);
        }
    }

    private static byte[] bytes(int id, Tokenizer tokenizer) {
        return id < tokenizer.size() ? tokenizer.bytes(id) : new byte[0];
    }

    /** {@code {tokens, token_logprobs, top_logprobs, text_offset}}, of completions. */
    static ObjectNode columns(List<Logprob> logprobs, Tokenizer tokenizer, int firstOffset) {
        ObjectNode columns = JsonNodeFactory.instance.objectNode();
        ArrayNode tokens = columns.putArray("tokens");
        ArrayNode values = columns.putArray("token_logprobs");
        ArrayNode top = columns.putArray("top_logprobs");
        ArrayNode offsets = columns.putArray("text_offset");
        int offset = firstOffset;
        for (Logprob logprob : logprobs) {
            String text = new String(bytes(logprob.id(), tokenizer), StandardCharsets.UTF_8);
            tokens.add(text);
            values.add(logprob.logprob());
            ObjectNode others = top.addObject();
            logprob.top()
                    .forEach(other -> others.put(
                            new String(bytes(other.id(), tokenizer), StandardCharsets.UTF_8), other.logprob()));
            offsets.add(offset);
            offset += text.length();
        }
        return columns;
    }
}
