package ai.deltafin.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Strict JSON from files nobody vouches for: UTF-8 only, bounded in depth and length, nothing behind the value. */
final class ModelJson {
    /** Deepest nesting read; the released files need six levels. */
    private static final int MAX_DEPTH = 64;

    private static final int MAX_NAME = 4096;

    /**
     * Names are as many as tensors and all different, so a table of names already seen would only cost memory and could be
     * made to collide.
     */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MAX_DEPTH)
                    .maxNameLength(MAX_NAME)
                    .maxNumberLength(100)
                    .build())
            .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
            .disable(TokenStreamFactory.Feature.INTERN_PROPERTY_NAMES)
            .build();

    private static final JsonMapper MAPPER = JsonMapper.builder(FACTORY)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private ModelJson() {}

    /** A small file that must be one JSON object without duplicate keys. */
    static ObjectNode object(Path file, long maxBytes) {
        try (FileChannel channel = ModelFiles.open(file)) {
            long size = channel.size();
            if (size > maxBytes) {
                throw ModelException.mismatch(
                        file, "size", "at most " + maxBytes + " bytes", size, "this is not the file it is named after");
            }
            JsonNode read = MAPPER.readTree(reader(ModelFiles.stream(channel, 0, size)));
            if (read instanceof ObjectNode object) {
                return object;
            }
            throw ModelException.mismatch(file, "content", "one JSON object", kind(read), "download the file again");
        } catch (JacksonException e) {
            throw broken(file, "", e);
        } catch (IOException e) {
            throw ModelFiles.unreadable(file, e);
        }
    }

    /** A parser that streams through a value too large to hold. */
    static JsonParser parser(InputStream in) {
        return FACTORY.createParser(ObjectReadContext.empty(), reader(in));
    }

    /** Malformed UTF-8 is an error, not a replacement character; no other encoding is guessed. */
    private static InputStreamReader reader(InputStream in) {
        return new InputStreamReader(
                in,
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPORT)
                        .onUnmappableCharacter(CodingErrorAction.REPORT));
    }

    /** The exception for text that is not the JSON it should be; {@code part} names a part of the file, or is empty. */
    static ModelException broken(Path file, String part, JacksonException e) {
        var at = e.getLocation();
        String place = at == null ? "" : " (line " + at.getLineNr() + ", column " + at.getColumnNr() + ")";
        return new ModelException(
                file + ": " + part + "not valid JSON" + place + ": " + e.getOriginalMessage()
                        + "; download the file again",
                e);
    }

    /** How a message shows a value: its text, cut where it is long. */
    static String kind(JsonNode node) {
        if (node.isMissingNode()) {
            return "nothing";
        }
        String text = node.toString();
        return text.length() <= 80 ? text : text.substring(0, 77) + "...";
    }
}
