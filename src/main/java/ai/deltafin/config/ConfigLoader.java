package ai.deltafin.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Lays the sources over the tree of defaults, one after the other. That tree is also the schema: a key that is not in it
 * does not exist, and the kind of its default tells how text from the environment or the command line is read.
 */
final class ConfigLoader {

    private static final String PREFIX = "DELTAFIN_";

    /** Variables of the launcher, not settings. */
    private static final Set<String> LAUNCHER_VARIABLES = Set.of("DELTAFIN_JAVA_OPTS", "DELTAFIN_CONFIG");

    private static final long MAX_FILE_BYTES = 1 << 20;

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    private final ObjectNode tree = MAPPER.valueToTree(Config.defaults());

    /** Default of every key by its dotted name, in the order of the records. */
    private final Map<String, JsonNode> schema = new LinkedHashMap<>();

    /** Where each key's present value came from. */
    private final Map<String, String> origins = new HashMap<>();

    ConfigLoader() {
        leaves("", tree.deepCopy());
    }

    static String write(Config config) {
        return MAPPER.writeValueAsString(config) + "\n";
    }

    private void leaves(String prefix, ObjectNode node) {
        node.properties().forEach(e -> {
            if (e.getValue() instanceof ObjectNode section) {
                leaves(prefix + e.getKey() + ".", section);
            } else {
                schema.put(prefix + e.getKey(), e.getValue());
            }
        });
    }

    void file(Path file) {
        JsonNode read;
        try {
            if (Files.size(file) > MAX_FILE_BYTES) {
                throw new ConfigException(file + ": a config file of more than 1 MiB is not one");
            }
            read = MAPPER.readTree(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new ConfigException(file + ": no such config file", e);
        } catch (IOException e) {
            throw new ConfigException(file + ": cannot be read: " + e, e);
        } catch (JacksonException e) {
            var at = e.getLocation();
            String place = at == null ? "" : ":" + at.getLineNr() + ":" + at.getColumnNr();
            throw new ConfigException(file + place + ": not valid JSON: " + e.getOriginalMessage(), e);
        }
        if (!(read instanceof ObjectNode object)) {
            throw new ConfigException(file + ": the config must be one JSON object");
        }
        merge("", object, tree, file.toString());
    }

    private void merge(String prefix, ObjectNode from, ObjectNode into, String origin) {
        from.properties().forEach(e -> {
            String key = prefix + e.getKey();
            JsonNode known = into.get(e.getKey());
            if (known == null) {
                throw unknown(origin + ": unknown key '" + key + "'", key);
            }
            if (known instanceof ObjectNode section) {
                if (!(e.getValue() instanceof ObjectNode values)) {
                    throw new ConfigException(origin + ": " + key + ": must be an object of settings");
                }
                merge(key + ".", values, section, origin);
            } else if (e.getValue().isNull() && !known.isNull()) {
                throw new ConfigException(origin + ": " + key + ": needs a value; leave the key out for its default");
            } else {
                into.set(e.getKey(), e.getValue());
                origins.put(key, origin);
            }
        });
    }

    private ConfigException unknown(String message, String key) {
        var names = schema.keySet();
        String leaf = key.substring(key.lastIndexOf('.') + 1);
        String moved = names.stream()
                .filter(name -> name.endsWith("." + leaf))
                .findFirst()
                .map(name -> "; did you mean '" + name + "'?")
                .orElseGet(() -> Suggestion.phrase(key, names));
        return new ConfigException(message + (moved.isEmpty() ? "; docs/config.md lists every key" : moved));
    }

    void environment(Map<String, String> environment) {
        Map<String, String> keys = schema.keySet().stream().collect(Collectors.toMap(ConfigLoader::variable, k -> k));
        new TreeMap<>(environment).forEach((name, value) -> {
            if (!name.startsWith(PREFIX) || LAUNCHER_VARIABLES.contains(name)) {
                return;
            }
            String key = keys.get(name);
            if (key == null) {
                throw new ConfigException(
                        "environment: unknown variable " + name + Suggestion.phrase(name, keys.keySet()));
            }
            set(key, value, "environment variable " + name);
        });
    }

    /** The environment's spelling of a key: {@code engine.loraEps} is {@code DELTAFIN_ENGINE_LORA_EPS}. */
    static String variable(String key) {
        String words = key.replaceAll("([a-z])([A-Z])", "$1_$2").replace('.', '_');
        return PREFIX + words.toUpperCase(Locale.ROOT);
    }

    void overrides(Map<String, String> overrides) {
        overrides.forEach((key, value) -> {
            if (!schema.containsKey(key)) {
                throw unknown("command line: unknown key '" + key + "'", key);
            }
            set(key, value, "command line");
        });
    }

    private void set(String key, String text, String origin) {
        int dot = key.lastIndexOf('.');
        ObjectNode section = tree;
        for (String name : key.substring(0, dot).split("\\.", -1)) {
            section = (ObjectNode) section.get(name);
        }
        section.set(key.substring(dot + 1), typed(key, text, origin));
        origins.put(key, origin);
    }

    private JsonNode typed(String key, String text, String origin) {
        JsonNode kind = schema.get(key);
        if (kind instanceof ArrayNode) {
            return text.trim().startsWith("[") ? json(key, text, origin) : list(text);
        }
        if (kind != null && (kind.isNumber() || kind.isBoolean())) {
            return json(key, text, origin);
        }
        return MAPPER.getNodeFactory().stringNode(text);
    }

    private static ArrayNode list(String text) {
        ArrayNode array = MAPPER.createArrayNode();
        for (String part : text.split(",", -1)) {
            if (!part.isBlank()) {
                array.add(part.trim());
            }
        }
        return array;
    }

    private static JsonNode json(String key, String text, String origin) {
        try {
            return MAPPER.readTree(text);
        } catch (JacksonException e) {
            throw new ConfigException(key + ": '" + text + "' cannot be read (" + origin + ")", e);
        }
    }

    Config finish() {
        try {
            return MAPPER.treeToValue(tree, Config.class);
        } catch (JacksonException e) {
            String key = e.getPath().stream()
                    .map(JacksonException.Reference::getPropertyName)
                    .filter(name -> name != null)
                    .collect(Collectors.joining("."));
            throw explained(key, e);
        }
    }

    private ConfigException explained(String key, JacksonException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConfigException own) {
                String message = String.valueOf(own.getMessage());
                return new ConfigException(message + from(message), own);
            }
            if (cause instanceof IllegalArgumentException && !(cause instanceof JacksonException)) {
                return new ConfigException(key + ": " + cause.getMessage() + from(key), e);
            }
        }
        JsonNode kind = schema.get(key);
        String wanted = kind == null ? "" : ": must be " + describe(kind);
        return new ConfigException(
                (key.isEmpty() ? "config" : key)
                        + (wanted.isEmpty() ? ": " + e.getOriginalMessage() : wanted)
                        + from(key),
                e);
    }

    /** The origin of the key that a message begins with, in brackets. */
    private String from(String message) {
        return origins.entrySet().stream()
                .filter(e -> message.startsWith(e.getKey()))
                .map(e -> " (" + e.getValue() + ")")
                .findFirst()
                .orElse("");
    }

    private static String describe(JsonNode kind) {
        return switch (kind.getNodeType()) {
            case NUMBER -> kind.isIntegralNumber() ? "a whole number" : "a number";
            case BOOLEAN -> "true or false";
            case ARRAY -> "a list";
            case STRING, NULL -> "text";
            default -> "of the default's kind";
        };
    }

    /** Every key with its default as JSON, in order: what docs/config.md lists. */
    static List<Map.Entry<String, String>> keys() {
        return new ConfigLoader()
                .schema.entrySet().stream()
                        .map(e -> Map.entry(e.getKey(), e.getValue().toString()))
                        .toList();
    }
}
