package ai.deltafin.chat;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes one call's arguments as the text of one JSON object while the model writes them element by element. Strings
 * come out as they arrive; other values only whole, since they may turn out to be no JSON.
 */
final class CallArguments {

    /** Strict JSON: a value that a client's parser would refuse is handed on as a string instead. */
    private static final JsonMapper STRICT = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(PythonJson.MAX_DEPTH)
                            .maxNumberLength(4300)
                            .build())
                    .build())
            .build();

    private enum Kind {
        NONE,
        TYPED,
        JSON
    }

    private enum Value {
        NONE,
        STRING,
        BUFFERED,
        VERBATIM,
        DROPPED
    }

    private final Set<String> keys = new HashSet<>();
    private final StringBuilder buffered = new StringBuilder();
    private Kind kind = Kind.NONE;
    private Value value = Value.NONE;
    private String key = "";

    /** An argument begins; gives what of the JSON that decides. A second value of a key is dropped. */
    String openArgument(@Nullable String name, @Nullable String type) {
        if (kind == Kind.JSON || name == null || !keys.add(name)) {
            value = Value.DROPPED;
            return "";
        }
        boolean first = kind == Kind.NONE;
        kind = Kind.TYPED;
        StringBuilder out = new StringBuilder(first ? "{" : ",").append('"');
        PythonJson.escape(name, out);
        out.append("\":");
        if (isBuffered(type)) {
            value = Value.BUFFERED;
            key = out.toString();
            return "";
        }
        value = Value.STRING;
        return out.append('"').toString();
    }

    private static boolean isBuffered(@Nullable String type) {
        return switch (type) {
            case "number", "boolean", "null", "object", "array" -> true;
            case null, default -> false;
        };
    }

    /** The arguments come as one raw text. Whichever kind came first stays. */
    void openJson() {
        value = kind == Kind.NONE ? Value.VERBATIM : Value.DROPPED;
    }

    /** More of the value. */
    String text(String text) {
        return switch (value) {
            case STRING -> {
                StringBuilder out = new StringBuilder();
                PythonJson.escape(text, out);
                yield out.toString();
            }
            case VERBATIM -> {
                if (kind == Kind.NONE && PythonText.isBlank(text)) {
                    yield ""; // so that an empty element ends as {}
                }
                kind = Kind.JSON;
                yield text;
            }
            case BUFFERED -> {
                buffered.append(text);
                yield "";
            }
            case NONE, DROPPED -> "";
        };
    }

    /** The value is complete. */
    String closeValue() {
        Value closed = value;
        value = Value.NONE;
        return switch (closed) {
            case STRING -> "\"";
            case BUFFERED -> {
                String raw = buffered.toString();
                buffered.setLength(0);
                yield key + (isJson(raw) ? raw : quoted(raw));
            }
            case NONE, DROPPED, VERBATIM -> "";
        };
    }

    /** The call is complete. */
    String end() {
        return switch (kind) {
            case NONE -> "{}";
            case TYPED -> "}";
            case JSON -> "";
        };
    }

    private static String quoted(String raw) {
        StringBuilder out = new StringBuilder("\"");
        PythonJson.escape(raw, out);
        return out.append('"').toString();
    }

    private static boolean isJson(String raw) {
        if (PythonText.isBlank(raw)) {
            return false;
        }
        try {
            STRICT.readTree(raw);
            return true;
        } catch (JacksonException e) {
            return false;
        }
    }
}
