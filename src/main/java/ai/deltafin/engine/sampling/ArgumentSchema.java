package ai.deltafin.engine.sampling;

import static ai.deltafin.engine.sampling.Expression.any;
import static ai.deltafin.engine.sampling.Expression.range;
import static ai.deltafin.engine.sampling.Expression.text;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The arguments of one tool. K3 writes each argument as an element with a type of its own: a string raw, everything else
 * as JSON, so a schema is asked type by type.
 */
final class ArgumentSchema {

    /** Types an argument element can name. */
    static final List<String> TYPES = List.of("string", "number", "boolean", "null", "object", "array");

    private static final Expression ANY_TEXT = any(range(0, 255));

    private final JsonSchema schema;

    /** For the tool whose parameters the compiler has as its root. */
    ArgumentSchema(JsonSchema schema) {
        this.schema = schema;
    }

    /** Values of a type without a schema. */
    static Expression unstated(String type) {
        return switch (type) {
            case "string" -> ANY_TEXT;
            case "number" -> JsonText.NUMBER;
            case "boolean" -> JsonText.BOOLEAN;
            case "null" -> JsonText.NULL;
            case "object" -> JsonText.OBJECT;
            default -> JsonText.ARRAY;
        };
    }

    /** The values of one type that a property's schema accepts; null for none. */
    @Nullable
    Expression values(JsonNode stated, String type, String at) {
        if (stated.isBoolean() && stated.booleanValue()) {
            return unstated(type);
        }
        JsonNode property = schema.dereference(stated, at);
        schema.checkKeywords(property, at);
        if (property.has("const")) {
            return literals(List.of(property.get("const")), type);
        }
        if (property.path("enum").isArray()) {
            List<JsonNode> values = new ArrayList<>();
            property.get("enum").forEach(values::add);
            return literals(values, type);
        }
        if (property.path("anyOf").isArray()) {
            return union(property.get("anyOf"), type, at + "/anyOf");
        }
        List<String> types = schema.types(property, at);
        if (type.equals("number") && !types.contains("number")) {
            return types.contains("integer") ? schema.ofType("integer", property, at) : null;
        }
        if (!types.contains(type)) {
            return null;
        }
        return type.equals("string") ? raw(property) : schema.ofType(type, property, at);
    }

    private @Nullable Expression union(JsonNode options, String type, String at) {
        List<Expression> compiled = new ArrayList<>();
        for (int i = 0; i < options.size(); i++) {
            Expression option = values(options.get(i), type, at + "/" + i);
            if (option != null) {
                compiled.add(option);
            }
        }
        return compiled.isEmpty() ? null : new Expression.Choice(compiled);
    }

    private static @Nullable Expression literals(List<JsonNode> values, String type) {
        List<Expression> compiled = new ArrayList<>();
        for (JsonNode value : values) {
            String own = JsonSchema.typeOf(value);
            if (type.equals(own) || (type.equals("number") && own.equals("integer"))) {
                compiled.add(value.isString() ? text(value.stringValue()) : JsonSchema.literal(value));
            }
        }
        return compiled.isEmpty() ? null : new Expression.Choice(compiled);
    }

    /** A raw string; its length is not bound, since characters there are not escaped. */
    private Expression raw(JsonNode property) {
        Expression format = JsonText.format(property.path("format").asString(""));
        if (format != null) {
            return format;
        }
        schema.refuseIfStrict(property, "minLength");
        schema.refuseIfStrict(property, "maxLength");
        schema.refuseIfStrict(property, "format");
        return ANY_TEXT;
    }
}
