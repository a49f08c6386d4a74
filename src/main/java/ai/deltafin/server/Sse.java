package ai.deltafin.server;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Frames of a server-sent event stream. */
final class Sse {

    /** Ends the streams of the older OpenAI APIs. */
    static final String DONE = "data: [DONE]\n\n";

    private Sse() {}

    /** An event without a name. */
    static String data(JsonNode data) {
        return "data: " + JsonMapper.shared().writeValueAsString(data) + "\n\n";
    }

    /** A named event. */
    static String event(String name, JsonNode data) {
        return "event: " + name + "\n" + data(data);
    }

    /** What clients skip. */
    static String comment(String text) {
        return ": " + text.replace('\n', ' ') + "\n\n";
    }
}
