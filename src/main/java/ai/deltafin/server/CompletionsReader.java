package ai.deltafin.server;

import ai.deltafin.pipeline.CallRules;
import ai.deltafin.pipeline.Prompt;
import java.math.BigInteger;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads {@code POST /v1/completions}: raw text or ids, continued without a chat. */
final class CompletionsReader implements RequestReader {

    private static final int DEFAULT_TOKENS = 16;

    @Override
    public Ask read(ObjectNode body, Context context) {
        FieldTables.COMPLETIONS.check(body, "", context.unknown());
        Fields fields = new Fields(body, "");
        fields.text("model");
        boolean stream = fields.flag("stream", false);
        return new Ask(
                prompt(fields.node("prompt"), "prompt", context.vocabulary()),
                SamplingFields.read(fields, 2, context.vocabulary()),
                fields.has("seed"),
                OptionalInt.of(
                        fields.integer("max_tokens", 1, ChatReader.MANY_TOKENS).orElse(DEFAULT_TOKENS)),
                SamplingFields.stops(fields, "stop"),
                fields.integer("n", 1, ChatReader.MAX_CHOICES).orElse(1),
                fields.integer("logprobs", 0, ChatReader.MAX_TOP_LOGPROBS).orElse(-1),
                CallRules.NONE,
                stream,
                ChatReader.includeUsage(fields, stream, context));
    }

    private static Prompt prompt(JsonNode prompt, String path, int vocabulary) {
        if (prompt.isString()) {
            return new Prompt.Text(prompt.stringValue(), false);
        }
        if (!prompt.isArray() || prompt.isEmpty()) {
            throw ApiException.invalid(path, "must be a string or an array of token ids");
        }
        if (prompt.get(0).isNumber()) {
            return new Prompt.Ids(ids(prompt, path, vocabulary));
        }
        if (prompt.size() > 1) {
            throw ApiException.invalid(path, "one prompt a request; send " + prompt.size() + " requests");
        }
        return prompt(prompt.get(0), path + "[0]", vocabulary);
    }

    /** Token ids of an array. */
    static int[] ids(JsonNode array, String path, int vocabulary) {
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            BigInteger id = Fields.whole(array.get(i), path + "[" + i + "]");
            if (id.signum() < 0 || id.compareTo(BigInteger.valueOf(vocabulary)) >= 0) {
                throw ApiException.invalid(
                        path + "[" + i + "]", "not a token id: ids are 0 to " + (vocabulary - 1) + ", not " + id);
            }
            ids[i] = id.intValueExact();
        }
        return ids;
    }
}
