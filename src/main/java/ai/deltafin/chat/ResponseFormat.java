package ai.deltafin.chat;

import tools.jackson.databind.JsonNode;

/** What the prompt tells the model about the form of its answer. */
public sealed interface ResponseFormat {

    /** Free text: the prompt says nothing. */
    record Text() implements ResponseFormat {}

    /** Any JSON object. */
    record JsonObject() implements ResponseFormat {}

    /** JSON that matches a schema. */
    record JsonSchema(JsonNode schema) implements ResponseFormat {}
}
