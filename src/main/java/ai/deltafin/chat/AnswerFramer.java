package ai.deltafin.chat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits generated ids into text and the tags between. Works on ids, so a marker that the model only spells is text. A
 * tag whose {@code <|sep|>} is missing ends at the line end outside its quotes, or at the next marker.
 */
final class AnswerFramer {

    /** What the ids turn out to be. */
    interface Sink {
        /** Text of one ordinary id, as far as its characters are whole. */
        void text(String text);

        /** An ordinary id inside a channel, counted whether or not it completes a character. */
        void textToken();

        void open(Header header);

        void close(Header header);
    }

    private static final Set<String> TAGS = Set.of("think", "response", "tools", "call", "argument", "json", "message");

    private static final Pattern BEGUN_TAG = Pattern.compile("(?<name>[a-z]++)(?: [^\\s=\"]++=\"[^\"]*+\")*+");

    private static final int MAX_HEADER_BYTES = 16 << 10;

    private enum State {
        TEXT,
        OPENING,
        CLOSING
    }

    private final Tokenizer tokenizer;
    private final Sink sink;
    private final Utf8Decoder utf8 = new Utf8Decoder();
    private final StringBuilder decoded = new StringBuilder();
    private final ByteArrayOutputStream header = new ByteArrayOutputStream();
    private State state = State.TEXT;
    private boolean quoted;

    AnswerFramer(Tokenizer tokenizer, Sink sink) {
        this.tokenizer = tokenizer;
        this.sink = sink;
    }

    void push(int id) {
        ControlTokens controls = tokenizer.controls();
        if (id == controls.open() || id == controls.close()) {
            marker();
            state = id == controls.open() ? State.OPENING : State.CLOSING;
        } else if (id == controls.sep()) {
            if (state != State.TEXT) {
                tag(Header.parse(takeHeader()));
            }
        } else if (!controls.contains(id)) {
            if (state == State.TEXT) {
                sink.textToken();
            }
            bytes(tokenizer.bytes(id), 0);
        }
    }

    /** The answer ends here: nothing is left over. At the token limit an unfinished tag says nothing. */
    void finish(boolean atLimit) {
        if (atLimit && state != State.TEXT) {
            takeHeader();
            state = State.TEXT;
        }
        marker();
    }

    private void bytes(byte[] bytes, int from) {
        if (state == State.TEXT) {
            utf8.push(from == 0 ? bytes : Arrays.copyOfRange(bytes, from, bytes.length), decoded);
            flush();
            return;
        }
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == '"') {
                quoted = !quoted;
            }
            boolean lineEnd = bytes[i] == '\n' && !quoted;
            if (lineEnd || header.size() >= MAX_HEADER_BYTES) {
                unfinishedTag();
                bytes(bytes, i);
                return;
            }
            header.write(bytes[i]);
        }
    }

    /** A marker or the end: no character reaches over it, and a tag without its end ends here. */
    private void marker() {
        if (state != State.TEXT) {
            unfinishedTag();
        }
        utf8.finish(decoded);
        flush();
    }

    /**
     * A tag that never got its separator counts if its name is one of the format; what is behind its name and attributes
     * is text. Without such a name it is a broken marker, and shows nowhere.
     */
    private void unfinishedTag() {
        String text = takeHeader();
        Matcher begun = BEGUN_TAG.matcher(text);
        if (begun.lookingAt() && TAGS.contains(begun.group("name"))) {
            tag(Header.parse(begun.group()));
            if (begun.end() < text.length()) {
                sink.text(text.substring(begun.end()));
            }
        } else {
            state = State.TEXT;
        }
    }

    private void tag(Header tag) {
        State was = state;
        state = State.TEXT;
        if (was == State.OPENING) {
            sink.open(tag);
        } else {
            sink.close(tag);
        }
    }

    private String takeHeader() {
        String text = header.toString(StandardCharsets.UTF_8);
        header.reset();
        quoted = false;
        return text;
    }

    private void flush() {
        if (!decoded.isEmpty()) {
            String text = decoded.toString();
            decoded.setLength(0);
            sink.text(text);
        }
    }
}
