package ai.deltafin.server;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Typed reading of one request object. Null counts as absent; a wrong type or a value out of range is refused with the
 * field's path.
 */
final class Fields {

    private final JsonNode object;
    private final String path;

    /**
     * The fields of an object.
     *
     * @param path its path in the body; empty for the body
     */
    Fields(JsonNode object, String path) {
        this.object = object;
        this.path = path;
        if (!object.isObject()) {
            throw ApiException.invalid(path, "must be an object, not " + kind(object));
        }
    }

    /** The object itself. */
    JsonNode whole() {
        return object;
    }

    /** Full path of a field. */
    String at(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** The field, or a missing node. */
    JsonNode node(String name) {
        JsonNode node = object.path(name);
        return node.isNull() ? JsonNodeFactory.instance.missingNode() : node;
    }

    boolean has(String name) {
        return !node(name).isMissingNode();
    }

    /** The fields of an inner object; those of an empty one if it is absent. */
    Fields inner(String name) {
        return new Fields(has(name) ? node(name) : JsonNodeFactory.instance.objectNode(), at(name));
    }

    @Nullable
    String text(String name) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return null;
        }
        if (!node.isString()) {
            throw ApiException.invalid(at(name), "must be a string, not " + kind(node));
        }
        return node.stringValue();
    }

    /** A string that must be there. */
    String needed(String name) {
        String text = text(name);
        if (text == null) {
            throw ApiException.invalid(at(name), "missing: a string is needed");
        }
        return text;
    }

    boolean flag(String name, boolean absent) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return absent;
        }
        if (!node.isBoolean()) {
            throw ApiException.invalid(at(name), "must be true or false, not " + kind(node));
        }
        return node.booleanValue();
    }

    double number(String name, double least, double most, double absent) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return absent;
        }
        if (!node.isNumber()) {
            throw ApiException.invalid(at(name), "must be a number, not " + kind(node));
        }
        double value = node.doubleValue();
        if (!(value >= least && value <= most)) {
            throw ApiException.invalid(at(name), "must be " + least + " to " + most + ", not " + node);
        }
        return value;
    }

    OptionalInt integer(String name, int least, int most) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return OptionalInt.empty();
        }
        BigInteger value = whole(node, at(name));
        if (value.compareTo(BigInteger.valueOf(least)) < 0 || value.compareTo(BigInteger.valueOf(most)) > 0) {
            throw ApiException.invalid(at(name), "must be " + least + " to " + most + ", not " + node);
        }
        return OptionalInt.of(value.intValueExact());
    }

    /** A 64-bit integer, signed or unsigned; null if it is absent. */
    @Nullable
    Long bits(String name) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return null;
        }
        BigInteger value = whole(node, at(name));
        if (value.bitLength() > (value.signum() < 0 ? 63 : 64)) {
            throw ApiException.invalid(at(name), "must fit into 64 bits");
        }
        return value.longValue();
    }

    static BigInteger whole(JsonNode node, String path) {
        if (node.isIntegralNumber()) {
            return node.bigIntegerValue();
        }
        if (node.isNumber() && node.doubleValue() == Math.rint(node.doubleValue())) {
            return node.decimalValue().toBigInteger();
        }
        throw ApiException.invalid(path, "must be a whole number, not " + (node.isNumber() ? node : kind(node)));
    }

    /** Strings of an array, or the one string alone; none if it is absent. */
    List<String> texts(String name) {
        JsonNode node = node(name);
        if (node.isString()) {
            return List.of(node.stringValue());
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode text : list(name)) {
            if (!text.isString()) {
                throw ApiException.invalid(at(name) + "[" + texts.size() + "]", "must be a string, not " + kind(text));
            }
            texts.add(text.stringValue());
        }
        return texts;
    }

    /** Elements of an array; none if it is absent. */
    List<JsonNode> list(String name) {
        JsonNode node = node(name);
        if (node.isMissingNode()) {
            return List.of();
        }
        if (!node.isArray()) {
            throw ApiException.invalid(at(name), "must be an array, not " + kind(node));
        }
        List<JsonNode> elements = new ArrayList<>(node.size());
        node.forEach(elements::add);
        return elements;
    }

    /** A kind of JSON value in words. */
    static String kind(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> "an object";
            case ARRAY -> "an array";
            case STRING -> "a string";
            case NUMBER -> "a number";
            case BOOLEAN -> "true or false";
            case NULL -> "null";
            default -> "nothing";
        };
    }
}
