package ai.deltafin.server;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads a request body as JSON and nothing else: UTF-8, each key once, bounded nesting and numbers, no half characters,
 * no NUL. Whatever is wrong is told with its place.
 */
final class StrictJson {

    /** Deepest nesting of objects and arrays. */
    static final int MAX_DEPTH = 100;

    /** Most characters of a number. */
    static final int MAX_NUMBER = 400;

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxNumberLength(MAX_NUMBER)
                            .maxStringLength(Integer.MAX_VALUE)
                            .maxNameLength(65_536)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private StrictJson() {}

    /**
     * The object that a body holds.
     *
     * @throws ApiException with status 400 naming what is wrong
     */
    static ObjectNode object(byte[] body) {
        JsonNode read;
        try {
            read = MAPPER.readTree(decoded(body).toString());
        } catch (JacksonException e) {
            var at = e.getLocation();
            String place = at == null ? "" : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
            throw ApiException.invalid(
                    null, "the body is not valid JSON: " + firstLine(e.getOriginalMessage()) + place);
        }
        if (!(read instanceof ObjectNode object)) {
            throw ApiException.invalid(null, "the body must be one JSON object");
        }
        check(object, "");
        return object;
    }

    private static CharBuffer decoded(byte[] body) {
        CharsetDecoder decoder = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer bytes = ByteBuffer.wrap(body);
        try {
            return decoder.decode(bytes);
        } catch (CharacterCodingException e) {
            throw ApiException.invalid(null, "the body is not valid UTF-8 at byte " + bytes.position());
        }
    }

    private static String firstLine(@Nullable String message) {
        String text = String.valueOf(message);
        int end = text.indexOf('\n');
        String line = end < 0 ? text : text.substring(0, end);
        return line.length() > 300 ? line.substring(0, 300) + "..." : line;
    }

    private static void check(JsonNode node, String path) {
        switch (node.getNodeType()) {
            case OBJECT -> {
                for (Map.Entry<String, JsonNode> entry : node.properties()) {
                    String inner = path.isEmpty() ? entry.getKey() : path + "." + entry.getKey();
                    checkText(entry.getKey(), path.isEmpty() ? "the body's keys" : path);
                    check(entry.getValue(), inner);
                }
            }
            case ARRAY -> {
                for (int i = 0; i < node.size(); i++) {
                    check(node.get(i), path + "[" + i + "]");
                }
            }
            case STRING -> checkText(node.stringValue(), path);
            case NUMBER -> {
                if (node.isFloatingPointNumber() && !Double.isFinite(node.doubleValue())) {
                    throw ApiException.invalid(path, "the number is too large");
                }
            }
            default -> {}
        }
    }

    private static void checkText(String text, String path) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == 0) {
                throw ApiException.invalid(path, "the character NUL is not allowed in text");
            }
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c)
                        && i + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    throw ApiException.invalid(path, "half a character: a surrogate without its other half");
                }
                i++;
            }
        }
    }
}
