package ai.deltafin.chat;

import java.util.Set;
import java.util.function.BooleanSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The two line-by-line services of the command line: one JSON object in, one out, never an exception for what a line
 * says.
 */
public final class TokenizeLine {

    /** Longest line, in characters. */
    public static final int MAX_LINE_CHARS = 32 << 20;

    private final Tokenizer tokenizer;
    private final BooleanSupplier cancelled;

    /** Answers with this tokenizer. */
    public TokenizeLine(Tokenizer tokenizer, BooleanSupplier cancelled) {
        this.tokenizer = tokenizer;
        this.cancelled = cancelled;
    }

    /**
     * {@code {"text":T}}, {@code {"text":T,"special":true}} or {@code {"chat":{...}}} to
     * {@code {"ids":[...],"text":T}}, where the text is the rendered one, control tokens spelled; or to
     * {@code {"error":E}}. {@code "warnings"} lists messages that the format drops.
     *
     * @throws java.util.concurrent.CancellationException once cancelled
     */
    public String tokenize(String line) {
        return answer(line, Set.of("text", "special", "chat"), this::tokenize);
    }

    /** {@code {"ids":[...]}} or the bare array to {@code {"text":T}}, control tokens spelled; or {@code {"error":E}}. */
    public String detokenize(String line) {
        return answer(line, Set.of("ids"), this::detokenize);
    }

    private interface Service {
        ObjectNode answer(JsonNode request);
    }

    private static String answer(String line, Set<String> fields, Service service) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        try {
            answer = service.answer(parse(line, fields));
        } catch (JacksonException e) {
            answer.put("error", "not valid JSON: " + e.getOriginalMessage());
        } catch (ChatException e) {
            answer.put("error", e.getMessage());
        }
        return PythonJson.READER.writeValueAsString(answer);
    }

    private static JsonNode parse(String line, Set<String> fields) {
        if (line.length() > MAX_LINE_CHARS) {
            throw new ChatException("line", "longer than " + MAX_LINE_CHARS + " characters");
        }
        JsonNode request = PythonJson.READER.readTree(line);
        for (String field : request.propertyNames()) {
            if (!fields.contains(field)) {
                throw new ChatException(
                        field,
                        "unknown field; known are "
                                + String.join(", ", fields.stream().sorted().toList()));
            }
        }
        return request;
    }

    private ObjectNode tokenize(JsonNode request) {
        boolean text = request.has("text");
        if (text == request.has("chat")) {
            throw new ChatException("line", "must be an object with either \"text\" or \"chat\"");
        }
        return text ? text(request) : chat(request);
    }

    private ObjectNode text(JsonNode request) {
        JsonNode text = request.path("text");
        JsonNode special = request.path("special");
        if (!text.isString()) {
            throw new ChatException("text", "must be a string");
        }
        if (!special.isMissingNode() && !special.isBoolean()) {
            throw new ChatException("special", "must be true or false");
        }
        String whole = PythonText.repairSurrogates(text.stringValue());
        boolean controls = special.isBoolean() && special.booleanValue();
        return result(
                controls ? tokenizer.encodeWithControls(whole, cancelled) : tokenizer.encode(whole, cancelled), whole);
    }

    private ObjectNode chat(JsonNode request) {
        if (request.has("special")) {
            throw new ChatException(
                    "special", "belongs beside \"text\"; in a chat only the renderer writes control tokens");
        }
        ChatRequest chat = ChatRequestJson.read(request.path("chat"));
        Rendered rendered = ChatRenderer.render(chat);
        ObjectNode answer =
                result(tokenizer.encode(rendered.segments(), cancelled), PythonText.repairSurrogates(rendered.text()));
        warnOfUnknownRoles(chat, answer);
        return answer;
    }

    /** The format drops such a message, so ids and text do; the line says so. */
    private static void warnOfUnknownRoles(ChatRequest chat, ObjectNode answer) {
        ArrayNode warnings = JsonNodeFactory.instance.arrayNode();
        for (int i = 0; i < chat.messages().size(); i++) {
            if (chat.messages().get(i) instanceof Message.Unknown(String role)) {
                warnings.add("messages[" + i + "]: the format has no role \"" + role + "\" and drops the message");
            }
        }
        if (!warnings.isEmpty()) {
            answer.set("warnings", warnings);
        }
    }

    private static ObjectNode result(int[] ids, String text) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        ArrayNode array = answer.putArray("ids");
        for (int id : ids) {
            array.add(id);
        }
        return answer.put("text", text);
    }

    private ObjectNode detokenize(JsonNode request) {
        JsonNode ids = request.isArray() ? request : request.path("ids");
        if (!ids.isArray()) {
            throw new ChatException("ids", "must be an array of token ids");
        }
        StreamDecoder decoder = new StreamDecoder(tokenizer, StreamDecoder.Controls.SPELLED);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < ids.size(); i++) {
            JsonNode id = ids.get(i);
            if (!id.isIntegralNumber()
                    || !id.canConvertToInt()
                    || id.intValue() < 0
                    || id.intValue() >= tokenizer.size()) {
                throw new ChatException("ids[" + i + "]", "must be a token id, 0.." + (tokenizer.size() - 1));
            }
            text.append(decoder.push(id.intValue()));
        }
        return JsonNodeFactory.instance
                .objectNode()
                .put("text", text.append(decoder.finish()).toString());
    }
}
