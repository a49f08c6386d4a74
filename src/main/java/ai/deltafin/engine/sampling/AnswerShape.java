package ai.deltafin.engine.sampling;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a whole K3 answer must look like: think channel, response, tool calls. A shape binds response and calls, never
 * what is thought.
 *
 * @param thinking whether the prompt opened the think channel (else the response channel)
 * @param response what the response may be
 * @param tools tools that may be called
 * @param calls how many calls there may or must be
 * @param singleCall whether there is at most one
 */
public record AnswerShape(boolean thinking, Response response, List<Tool> tools, Calls calls, boolean singleCall) {

    public AnswerShape {
        tools = List.copyOf(tools);
    }

    /** Whether tools are called. */
    public enum Calls {
        FORBIDDEN,
        ALLOWED,
        REQUIRED
    }

    /** What the response channel holds. */
    public sealed interface Response {
        /** Any text. */
        record Free() implements Response {}

        /** One JSON object. */
        record JsonObject() implements Response {}

        /** JSON that a schema accepts. */
        record Schema(JsonNode schema) implements Response {}
    }

    /**
     * A tool.
     *
     * @param parameters JSON schema of its arguments; null for none stated
     * @param strict whether the schema must be held to, or refused; else what cannot be held to is relaxed
     */
    public record Tool(String name, @Nullable JsonNode parameters, boolean strict) {}

    /**
     * Control ids of the markup.
     *
     * @param endOfMessage ends an answer
     */
    public record Markers(int open, int close, int sep, int endOfMessage) {}

    /**
     * The constraint that holds an answer to this shape.
     *
     * @throws SchemaException for a schema outside the subset
     */
    public Constraint constraint(Vocabulary vocabulary, Markers markers) {
        return new AnswerGrammar(this, markers).constraint(vocabulary);
    }
}
