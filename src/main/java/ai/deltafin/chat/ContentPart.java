package ai.deltafin.chat;

import java.util.List;

/** A part of a message's content; each is a segment of its own. */
public sealed interface ContentPart {

    /** Text, as sent. */
    record Text(String text) implements ContentPart {}

    /** A picture; its prompt comes from {@link ChatRequest#imagePrompts}. */
    record Image() implements ContentPart {}

    /** Content of one text part; none for the empty text. */
    static List<ContentPart> ofText(String text) {
        return text.isEmpty() ? List.of() : List.of(new Text(text));
    }
}
