package ai.deltafin.chat;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A chat as the model reads it.
 *
 * @param segments in order; each is encoded by itself
 * @param historySegments how many of them are history, the part that the next turn's prompt begins with as well: all
 *     but the messages on tool choice and response format and the opened answer
 */
public record Rendered(List<Segment> segments, int historySegments) {

    public Rendered {
        segments = List.copyOf(segments);
    }

    /** The whole text, control tokens spelled. For people and tests: encoding it would forge control tokens. */
    public String text() {
        return segments.stream().map(Segment::text).collect(Collectors.joining());
    }
}
