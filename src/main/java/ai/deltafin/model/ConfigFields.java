package ai.deltafin.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The fields of one JSON object of a config, each read with its check; errors name file, field, found and supported. */
final class ConfigFields {
    /** No dimension of a usable model comes near; products of two stay far inside a long. */
    static final int MAX_DIMENSION = 1 << 24;

    private final Path file;
    private final String prefix;
    private final ObjectNode object;

    ConfigFields(Path file, String prefix, ObjectNode object) {
        this.file = file;
        this.prefix = prefix;
        this.object = object;
    }

    /** The error for a field. */
    ModelException refuse(String name, Object supported, String found) {
        return ModelException.mismatch(
                file, prefix + name, supported, found, "this model cannot be run by this version");
    }

    private ModelException refuse(String name, Object supported) {
        JsonNode value = object.get(name);
        return refuse(name, supported, value == null ? "no such field" : ModelJson.kind(value));
    }

    /** Whether a field is there and not null. */
    boolean has(String name) {
        JsonNode value = object.get(name);
        return value != null && !value.isNull();
    }

    /** Whether a field is there, null or not. */
    boolean mentions(String name) {
        return object.has(name);
    }

    /** A dimension that must be there. */
    int dimension(String name) {
        return wholeNumber(name, 1, MAX_DIMENSION);
    }

    /** A dimension that may be absent or null. */
    OptionalInt optionalDimension(String name) {
        return has(name) ? OptionalInt.of(dimension(name)) : OptionalInt.empty();
    }

    /** A whole number that must be there, in a range that includes both ends. */
    int wholeNumber(String name, int low, int high) {
        JsonNode value = object.get(name);
        if (value == null || !value.isIntegralNumber() || !inRange(value, low, high)) {
            throw refuse(name, "a whole number from " + low + " to " + high);
        }
        return value.intValue();
    }

    /** A whole number with a meaning for absent or null. */
    int wholeNumber(String name, int low, int high, int absent) {
        return has(name) ? wholeNumber(name, low, high) : absent;
    }

    private static boolean inRange(JsonNode value, int low, int high) {
        return value.canConvertToInt() && value.intValue() >= low && value.intValue() <= high;
    }

    /** A number above zero whose fp32 value is finite and not zero. */
    float positive(String name) {
        float value = number(name, "a number above 0");
        if (value <= 0) {
            throw refuse(name, "a number above 0");
        }
        return value;
    }

    /** A finite number as fp32. */
    float number(String name, String supported) {
        JsonNode value = object.get(name);
        if (value == null || !value.isNumber() || !Float.isFinite((float) value.doubleValue())) {
            throw refuse(name, supported);
        }
        return (float) value.doubleValue();
    }

    /** A boolean that must be there. */
    boolean flag(String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isBoolean()) {
            throw refuse(name, "true or false");
        }
        return value.booleanValue();
    }

    /** A boolean; false where absent or null. */
    boolean flagOrFalse(String name) {
        return has(name) && flag(name);
    }

    /** A text that must be one of a few. */
    String oneOf(String name, List<String> supported) {
        JsonNode value = object.get(name);
        if (value == null || !value.isString() || !supported.contains(value.stringValue())) {
            throw refuse(name, supported.size() == 1 ? quoted(supported.getFirst()) : "one of " + supported);
        }
        return value.stringValue();
    }

    /** As {@link #oneOf}, unless absent or null. */
    void oneOfIfPresent(String name, List<String> supported) {
        if (has(name)) {
            oneOf(name, supported);
        }
    }

    /** A field that must not be set. */
    void mustBeUnset(String name) {
        if (has(name)) {
            throw refuse(name, "null");
        }
    }

    private static String quoted(String text) {
        return "\"" + text + "\"";
    }

    /** An object that may be absent or null. */
    Optional<ConfigFields> section(String name) {
        if (!has(name)) {
            return Optional.empty();
        }
        if (object.get(name) instanceof ObjectNode section) {
            return Optional.of(new ConfigFields(file, prefix + name + ".", section));
        }
        throw refuse(name, "an object");
    }

    /** Names of all fields. */
    List<String> names() {
        return List.copyOf(object.propertyNames());
    }

    /** A list of texts, or nothing where absent or null. */
    Optional<List<String>> texts(String name) {
        if (!has(name)) {
            return Optional.empty();
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode item : array(name)) {
            if (!item.isString()) {
                throw refuse(name, "a list of texts");
            }
            texts.add(item.stringValue());
        }
        return Optional.of(texts);
    }

    /** A list of whole numbers in a range, no number twice. */
    List<Integer> distinct(String name, int low, int high) {
        List<Integer> numbers = new ArrayList<>();
        var seen = new java.util.BitSet();
        for (JsonNode item : array(name)) {
            if (!item.isIntegralNumber() || !inRange(item, low, high)) {
                throw refuse(name, "whole numbers from " + low + " to " + high, "the entry " + ModelJson.kind(item));
            }
            if (seen.get(item.intValue())) {
                throw refuse(name, "each number once", item.intValue() + " twice");
            }
            seen.set(item.intValue());
            numbers.add(item.intValue());
        }
        return numbers;
    }

    private JsonNode array(String name) {
        JsonNode value = object.get(name);
        if (value == null || !value.isArray()) {
            throw refuse(name, "a list");
        }
        return value;
    }

    /** One id or a list of ids below the vocabulary size; nothing where absent or null. */
    List<Integer> ids(String name, int vocabSize) {
        if (!has(name)) {
            return List.of();
        }
        return object.get(name).isArray()
                ? distinct(name, 0, vocabSize - 1)
                : List.of(wholeNumber(name, 0, vocabSize - 1));
    }
}
