package ai.deltafin.engine.sampling;

import static ai.deltafin.engine.sampling.Expression.sequence;
import static ai.deltafin.engine.sampling.Expression.text;

import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A JSON schema as grammar rules. The subset is listed in docs/server.md; a keyword outside it is refused by name, or
 * relaxed to the value's type where the caller asked for no guarantee.
 */
final class JsonSchema {

    /** Longest string and array that a bound may ask for. */
    static final int MAX_BOUND = 2_000;

    private static final BigInteger HUGE = BigInteger.TEN.pow(30);

    /** Keywords that say nothing about which values are valid. */
    private static final Set<String> REMARKS = Set.of(
            "title",
            "description",
            "default",
            "examples",
            "example",
            "deprecated",
            "readOnly",
            "writeOnly",
            "$schema",
            "$id",
            "$comment",
            "$defs",
            "definitions",
            "id");

    private static final Set<String> SUPPORTED = Set.of(
            "type",
            "enum",
            "const",
            "anyOf",
            "allOf",
            "$ref",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "format",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum");

    private static final List<String> TYPES =
            List.of("string", "number", "integer", "boolean", "null", "object", "array");

    private final Grammar grammar;
    private final JsonNode root;
    private final boolean strict;
    private final String prefix;
    private final Map<String, Expression> references = new LinkedHashMap<>();
    private int rules;

    /**
     * A schema's compiler.
     *
     * @param grammar takes the rules; those of {@link JsonText} must be there
     * @param strict whether keywords outside the subset are refused; else they are relaxed
     * @param prefix begins the names of the rules
     */
    JsonSchema(Grammar grammar, JsonNode root, boolean strict, String prefix) {
        this.grammar = grammar;
        this.root = root;
        this.strict = strict;
        this.prefix = prefix;
    }

    /**
     * The values that the schema accepts.
     *
     * @throws SchemaException naming the keyword that is outside the subset
     */
    Expression value() {
        return value(root, "");
    }

    private Expression value(JsonNode schema, String at) {
        if (schema.isBoolean() && schema.booleanValue()) {
            return JsonText.VALUE;
        }
        if (!schema.isObject()) {
            throw new SchemaException(at, "a schema must be an object or true");
        }
        checkKeywords(schema, at);
        if (schema.has("$ref")) {
            return reference(schema.get("$ref"), at + "/$ref");
        }
        if (schema.has("const")) {
            return literal(schema.get("const"));
        }
        if (schema.has("enum")) {
            return enumeration(schema, at);
        }
        if (schema.has("anyOf") || (!strict && schema.has("oneOf"))) {
            String keyword = schema.has("anyOf") ? "anyOf" : "oneOf";
            return any(schema.get(keyword), at + "/" + keyword);
        }
        if (schema.has("allOf")) {
            return all(schema.get("allOf"), at + "/allOf");
        }
        List<Expression> options = new ArrayList<>();
        for (String type : types(schema, at)) {
            options.add(ofType(type, schema, at));
        }
        return options.size() == 1 ? options.getFirst() : new Expression.Choice(options);
    }

    /** Refuses keywords outside the subset, where that is asked for. */
    void checkKeywords(JsonNode schema, String at) {
        if (!strict) {
            return;
        }
        for (String keyword : schema.propertyNames()) {
            if (!SUPPORTED.contains(keyword) && !REMARKS.contains(keyword)) {
                throw new SchemaException(
                        at + "/" + keyword,
                        "the keyword \"" + keyword + "\" is not supported; supported are "
                                + String.join(", ", new TreeSet<>(SUPPORTED)));
            }
        }
        for (String whole : List.of("$ref", "const", "enum", "anyOf", "allOf")) {
            if (schema.has(whole)) {
                for (String other : schema.propertyNames()) {
                    boolean harmless = other.equals(whole)
                            || REMARKS.contains(other)
                            || (other.equals("type") && (whole.equals("enum") || whole.equals("const")));
                    if (!harmless) {
                        throw new SchemaException(
                                at + "/" + other, "\"" + other + "\" beside \"" + whole + "\" is not supported");
                    }
                }
            }
        }
    }

    /** The types that a schema names or means. */
    List<String> types(JsonNode schema, String at) {
        JsonNode type = schema.get("type");
        if (type == null) {
            return implied(schema);
        }
        List<String> named = new ArrayList<>();
        if (type.isArray()) {
            type.forEach(one -> named.add(one.asString("")));
        } else {
            named.add(type.asString(""));
        }
        for (String name : named) {
            if (!TYPES.contains(name)) {
                throw new SchemaException(at + "/type", "\"" + name + "\" is none of " + String.join(", ", TYPES));
            }
        }
        if (named.isEmpty()) {
            throw new SchemaException(at + "/type", "names no type");
        }
        return named;
    }

    /** Without a type all are valid; with keywords of one type we write that type. */
    private static List<String> implied(JsonNode schema) {
        if (schema.has("properties") || schema.has("required") || schema.has("additionalProperties")) {
            return List.of("object");
        }
        if (schema.has("items") || schema.has("minItems") || schema.has("maxItems")) {
            return List.of("array");
        }
        if (schema.has("minLength") || schema.has("maxLength") || schema.has("format")) {
            return List.of("string");
        }
        boolean bounded = schema.has("minimum")
                || schema.has("maximum")
                || schema.has("exclusiveMinimum")
                || schema.has("exclusiveMaximum");
        return bounded ? List.of("integer") : List.of("string", "number", "boolean", "null", "object", "array");
    }

    /** The values of one type. */
    Expression ofType(String type, JsonNode schema, String at) {
        return switch (type) {
            case "string" -> string(schema, at);
            case "number" -> number(schema, at);
            case "integer" -> integer(schema, at);
            case "boolean" -> JsonText.BOOLEAN;
            case "null" -> JsonText.NULL;
            case "array" -> array(schema, at);
            default -> object(schema, at);
        };
    }

    private Expression string(JsonNode schema, String at) {
        JsonNode format = schema.get("format");
        if (format != null) {
            Expression known = JsonText.format(format.asString(""));
            if (known != null && !schema.has("minLength") && !schema.has("maxLength")) {
                return sequence(text("\""), known, text("\""));
            }
            if (strict) {
                throw new SchemaException(
                        at + "/format",
                        "the format \"" + format.asString("") + "\" is not supported; date, time, date-time and uuid"
                                + " are, without length bounds");
            }
        }
        int least = bound(schema, "minLength", 0, at);
        int most = bound(schema, "maxLength", -1, at);
        checkOrder(least, most, at + "/maxLength");
        return least == 0 && most < 0 ? JsonText.STRING : JsonText.string(least, most);
    }

    private int bound(JsonNode schema, String keyword, int absent, String at) {
        JsonNode value = schema.get(keyword);
        if (value == null) {
            return absent;
        }
        if (!value.isIntegralNumber() || value.bigIntegerValue().signum() < 0) {
            throw new SchemaException(at + "/" + keyword, "must be a whole number of 0 or more");
        }
        if (value.bigIntegerValue().compareTo(BigInteger.valueOf(MAX_BOUND)) > 0) {
            if (strict) {
                throw new SchemaException(at + "/" + keyword, "at most " + MAX_BOUND + " is supported");
            }
            return absent;
        }
        return value.intValue();
    }

    private static void checkOrder(int least, int most, String at) {
        if (most >= 0 && least > most) {
            throw new SchemaException(at, "no value can be valid: the lower bound is above the upper one");
        }
    }

    private Expression number(JsonNode schema, String at) {
        if (!strict || (lower(schema, at) == null && upper(schema, at) == null)) {
            return JsonText.NUMBER;
        }
        throw new SchemaException(
                at + "/minimum", "bounds of type \"number\" are not supported; those of type \"integer\" are");
    }

    private Expression integer(JsonNode schema, String at) {
        BigInteger low = lower(schema, at);
        BigInteger high = upper(schema, at);
        BigInteger least = low == null ? HUGE.negate() : low;
        BigInteger most = high == null ? HUGE : high;
        Expression integers = JsonText.integers(least, most);
        if (least.compareTo(most) > 0
                || ((Expression.Choice) integers).options().isEmpty()) {
            throw new SchemaException(at + "/minimum", "no whole number of 18 digits is valid");
        }
        return integers;
    }

    private static @Nullable BigInteger lower(JsonNode schema, String at) {
        BigInteger open = whole(schema, "exclusiveMinimum", at, RoundingMode.FLOOR);
        BigInteger closed = whole(schema, "minimum", at, RoundingMode.CEILING);
        BigInteger above = open == null ? null : open.add(BigInteger.ONE);
        return above == null || (closed != null && closed.compareTo(above) > 0) ? closed : above;
    }

    private static @Nullable BigInteger upper(JsonNode schema, String at) {
        BigInteger open = whole(schema, "exclusiveMaximum", at, RoundingMode.CEILING);
        BigInteger closed = whole(schema, "maximum", at, RoundingMode.FLOOR);
        BigInteger below = open == null ? null : open.subtract(BigInteger.ONE);
        return below == null || (closed != null && closed.compareTo(below) < 0) ? closed : below;
    }

    private static @Nullable BigInteger whole(JsonNode schema, String keyword, String at, RoundingMode rounding) {
        JsonNode value = schema.get(keyword);
        if (value == null) {
            return null;
        }
        if (!value.isNumber() || Math.abs(value.doubleValue()) > 1e30) {
            throw new SchemaException(at + "/" + keyword, "must be a number within 1e30");
        }
        return value.decimalValue().setScale(0, rounding).toBigInteger();
    }

    private Expression array(JsonNode schema, String at) {
        int least = bound(schema, "minItems", 0, at);
        int most = bound(schema, "maxItems", -1, at);
        checkOrder(least, most, at + "/maxItems");
        JsonNode items = schema.get("items");
        if (items == null && least == 0 && most < 0) {
            return JsonText.ARRAY;
        }
        Expression item = items == null ? JsonText.VALUE : rule(value(items, at + "/items"));
        return JsonText.list(item, least, most);
    }

    /** Gives an expression a name of its own, so that repeating it costs two nodes. */
    private Expression rule(Expression expression) {
        if (expression instanceof Expression.Rule) {
            return expression;
        }
        String name = prefix + " rule " + rules++;
        grammar.define(name, expression);
        return new Expression.Rule(name);
    }

    private Expression object(JsonNode schema, String at) {
        JsonNode properties = schema.get("properties");
        JsonNode additional = schema.get("additionalProperties");
        Set<String> required = required(schema, at);
        if (properties == null || properties.isEmpty()) {
            return map(additional, required, at);
        }
        if (!properties.isObject()) {
            throw new SchemaException(at + "/properties", "must be an object of schemas");
        }
        for (String name : required) {
            if (!properties.has(name)) {
                throw new SchemaException(at + "/required", "\"" + name + "\" is not among the properties");
            }
        }
        List<Expression> members = new ArrayList<>();
        List<Boolean> needed = new ArrayList<>();
        for (Map.Entry<String, JsonNode> property : properties.properties()) {
            Expression value = value(property.getValue(), at + "/properties/" + property.getKey());
            members.add(sequence(literal(property.getKey()), text(":"), JsonText.SPACE, value));
            needed.add(required.contains(property.getKey()));
        }
        Expression all = new Expression.Members(members, needed, JsonText.COMMA);
        return sequence(text("{"), JsonText.SPACE, all, JsonText.SPACE, text("}"));
    }

    private Expression map(@Nullable JsonNode additional, Set<String> required, String at) {
        if (!required.isEmpty()) {
            throw new SchemaException(
                    at + "/required", "\"" + required.iterator().next() + "\" is not among the properties");
        }
        if (additional != null && additional.isBoolean() && !additional.booleanValue()) {
            return text("{}");
        }
        if (additional == null || additional.isBoolean()) {
            return JsonText.OBJECT;
        }
        return JsonText.map(rule(value(additional, at + "/additionalProperties")));
    }

    private static Set<String> required(JsonNode schema, String at) {
        Set<String> names = new TreeSet<>();
        JsonNode required = schema.get("required");
        if (required != null) {
            if (!required.isArray()) {
                throw new SchemaException(at + "/required", "must be an array of names");
            }
            required.forEach(name -> names.add(name.asString("")));
        }
        return names;
    }

    private Expression enumeration(JsonNode schema, String at) {
        JsonNode values = schema.get("enum");
        if (!values.isArray() || values.isEmpty()) {
            throw new SchemaException(at + "/enum", "must be an array with at least one value");
        }
        List<String> types = schema.has("type") ? types(schema, at) : TYPES;
        List<Expression> options = new ArrayList<>();
        for (JsonNode value : values) {
            if (types.contains(typeOf(value)) || (types.contains("number") && value.isNumber())) {
                options.add(literal(value));
            }
        }
        if (options.isEmpty()) {
            throw new SchemaException(at + "/enum", "no value is of the type");
        }
        return new Expression.Choice(options);
    }

    static String typeOf(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> "string";
            case NUMBER -> value.isIntegralNumber() ? "integer" : "number";
            case BOOLEAN -> "boolean";
            case ARRAY -> "array";
            case OBJECT -> "object";
            default -> "null";
        };
    }

    static Expression literal(JsonNode value) {
        return text(JsonMapper.shared().writeValueAsString(value));
    }

    private static Expression literal(String key) {
        return text(JsonMapper.shared().writeValueAsString(key));
    }

    private Expression any(JsonNode options, String at) {
        if (!options.isArray() || options.isEmpty()) {
            throw new SchemaException(at, "must be an array with at least one schema");
        }
        List<Expression> compiled = new ArrayList<>();
        for (int i = 0; i < options.size(); i++) {
            compiled.add(value(options.get(i), at + "/" + i));
        }
        return new Expression.Choice(compiled);
    }

    private Expression all(JsonNode options, String at) {
        if (options.isArray() && options.size() == 1) {
            return value(options.get(0), at + "/0");
        }
        if (strict) {
            throw new SchemaException(at, "\"allOf\" is supported with exactly one schema");
        }
        return JsonText.VALUE;
    }

    private Expression reference(JsonNode reference, String at) {
        String pointer = reference.asString("");
        Expression known = references.get(pointer);
        if (known != null) {
            return known;
        }
        if (!pointer.equals("#") && !pointer.startsWith("#/")) {
            throw new SchemaException(at, "only references within the schema are supported, not \"" + pointer + "\"");
        }
        JsonNode target = resolve(pointer);
        if (target.isMissingNode()) {
            throw new SchemaException(at, "\"" + pointer + "\" leads nowhere");
        }
        checkProgress(target, at);
        String name = prefix + " " + pointer;
        Expression rule = new Expression.Rule(name);
        references.put(pointer, rule);
        grammar.define(name, value(target, pointer.substring(1)));
        return rule;
    }

    /** The schema that a chain of references ends at. */
    JsonNode dereference(JsonNode schema, String at) {
        checkProgress(schema, at);
        JsonNode target = schema;
        while (target.has("$ref")) {
            String pointer = target.get("$ref").asString("");
            JsonNode next = pointer.startsWith("#") ? resolve(pointer) : root.path("");
            if (!next.isObject()) {
                throw new SchemaException(at + "/$ref", "\"" + pointer + "\" leads nowhere within the schema");
            }
            target = next;
        }
        return target;
    }

    /** Refuses a keyword that is in the subset, but not in this place. */
    void refuseIfStrict(JsonNode schema, String keyword) {
        if (strict && schema.has(keyword)) {
            throw new SchemaException(
                    "/" + keyword, "the keyword \"" + keyword + "\" is not supported for an argument of type string");
        }
    }

    private JsonNode resolve(String pointer) {
        JsonNode at = root;
        for (String token : pointer.substring(1).split("/", -1)) {
            if (!token.isEmpty()) {
                String name = token.replace("~1", "/").replace("~0", "~");
                at = at.isArray() && name.matches("[0-9]{1,6}") ? at.path(Integer.parseInt(name)) : at.path(name);
            }
        }
        return at;
    }

    /** Refuses a chain of references that comes back to itself without writing anything. */
    private void checkProgress(JsonNode target, String at) {
        checkProgress(target, at, new ArrayList<>());
    }

    private void checkProgress(JsonNode schema, String at, List<String> chain) {
        if (schema.has("$ref")) {
            String pointer = schema.get("$ref").asString("");
            if (chain.contains(pointer)) {
                throw new SchemaException(at, "the reference \"" + pointer + "\" leads back to itself");
            }
            chain.add(pointer);
            checkProgress(resolve(pointer.startsWith("#") ? pointer : "#"), at, chain);
            chain.removeLast();
        }
        for (String keyword : List.of("anyOf", "oneOf", "allOf")) {
            if (schema.path(keyword).isArray()) {
                schema.get(keyword).forEach(option -> checkProgress(option, at, chain));
            }
        }
    }
}
