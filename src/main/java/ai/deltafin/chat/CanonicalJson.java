package ai.deltafin.chat;

import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One text for all JSON that means the same: keys sorted, numbers by value ({@code 1.50}, {@code 1.5}, {@code 15e-1}). */
final class CanonicalJson {

    private static final double SAFE_INTEGER = 0x1p53;

    private CanonicalJson() {}

    static String of(JsonNode value) {
        return PythonJson.compactSorted(normal(value));
    }

    private static JsonNode normal(JsonNode value) {
        if (value.isObject()) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            Map<String, JsonNode> sorted = new TreeMap<>();
            value.properties().forEach(e -> sorted.put(e.getKey(), normal(e.getValue())));
            object.setAll(sorted);
            return object;
        }
        if (value.isArray()) {
            ArrayNode array = JsonNodeFactory.instance.arrayNode();
            value.forEach(element -> array.add(normal(element)));
            return array;
        }
        return value.isFloatingPointNumber() ? number(value.doubleValue()) : value;
    }

    /** Integers keep all their digits; a float that is a safe integer is one, since JavaScript writes 1.0 as 1. */
    private static JsonNode number(double value) {
        boolean integer = value == Math.rint(value) && Math.abs(value) < SAFE_INTEGER;
        return integer ? JsonNodeFactory.instance.numberNode((long) value) : JsonNodeFactory.instance.numberNode(value);
    }
}
