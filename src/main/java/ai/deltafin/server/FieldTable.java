package ai.deltafin.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The fields of one request object and what becomes of each. Requests are checked against it and docs/server.md prints
 * it, so the two cannot part.
 */
final class FieldTable {

    /** What becomes of a field. */
    enum Use {
        /** Read, and honoured exactly. */
        HONOURED,
        /** Cannot change the answer: accepted and not read. */
        ACCEPTED,
        /** Refused unless it says what would happen anyway. */
        REFUSED
    }

    /**
     * A field.
     *
     * @param harmless JSON values of a refused field that are let through
     */
    record Field(String name, Use use, String note, List<JsonNode> harmless) {}

    private final String title;
    private final Map<String, Field> fields = new LinkedHashMap<>();

    FieldTable(String title) {
        this.title = title;
    }

    /** Adds a field that is read. */
    FieldTable honoured(String name, String note) {
        fields.put(name, new Field(name, Use.HONOURED, note, List.of()));
        return this;
    }

    /** Adds fields that cannot change the answer. */
    FieldTable accepted(String note, String... names) {
        for (String name : names) {
            fields.put(name, new Field(name, Use.ACCEPTED, note, List.of()));
        }
        return this;
    }

    /** Adds a field that is refused unless it is null or one of these JSON values. */
    FieldTable refused(String name, String note, String... harmless) {
        List<JsonNode> values = java.util.Arrays.stream(harmless)
                .map(json -> JsonMapper.shared().readTree(json))
                .toList();
        fields.put(name, new Field(name, Use.REFUSED, note, values));
        return this;
    }

    /** Takes over every field of another table. */
    FieldTable with(FieldTable other) {
        fields.putAll(other.fields);
        return this;
    }

    String title() {
        return title;
    }

    /**
     * Refuses what cannot be honoured.
     *
     * @param path of the object; empty for the body
     * @param unknown told of each field that is not in the table; may throw
     */
    void check(JsonNode object, String path, Consumer<String> unknown) {
        for (Map.Entry<String, JsonNode> entry : object.properties()) {
            String name = path.isEmpty() ? entry.getKey() : path + "." + entry.getKey();
            Field field = fields.get(entry.getKey());
            if (field == null) {
                if (!entry.getValue().isNull()) {
                    unknown.accept(name);
                }
            } else if (field.use == Use.REFUSED && !harmless(field, entry.getValue())) {
                throw ApiException.invalid(name, "not supported: " + field.note);
            }
        }
    }

    private static boolean harmless(Field field, JsonNode value) {
        return value.isNull() || field.harmless.contains(value);
    }

    /** The table as Markdown, one row a field. */
    String markdown() {
        return fields.values().stream()
                .map(f -> "| `" + f.name + "` | " + f.use.name().toLowerCase(java.util.Locale.ROOT) + " | " + f.note
                        + harmlessNote(f) + " |\n")
                .collect(Collectors.joining("", "| field | | what it does |\n| --- | --- | --- |\n", ""));
    }

    private static String harmlessNote(Field field) {
        return field.harmless.isEmpty()
                ? ""
                : field.harmless.stream()
                        .map(JsonNode::toString)
                        .collect(Collectors.joining("`, `", " (let through: `", "`)"));
    }

    /** How a field is used; null for an unknown one. */
    @Nullable
    Use use(String name) {
        Field field = fields.get(name);
        return field == null ? null : field.use;
    }
}
