package ai.deltafin.chat;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Watches a stream of text for stop strings. Text that may be the beginning of one is held back until that is decided,
 * so nothing of a stop string is ever shown. For one thread.
 */
public final class StopMatcher {

    /** Most stop strings of a request. */
    public static final int MAX_STOPS = 16;

    /** Longest stop string in UTF-16 units. */
    public static final int MAX_STOP_LENGTH = 1024;

    private final List<String> stops;
    private final StringBuilder held = new StringBuilder();
    private @Nullable String matched;

    /**
     * A matcher at the start of a text.
     *
     * @throws ChatException naming the field "stop" if there are more than {@value #MAX_STOPS}, or one is empty or longer
     *     than {@value #MAX_STOP_LENGTH}
     */
    public StopMatcher(List<String> stops) {
        if (stops.size() > MAX_STOPS) {
            throw new ChatException("stop", "at most " + MAX_STOPS + " stop strings, found " + stops.size());
        }
        for (String stop : stops) {
            if (stop.isEmpty() || stop.length() > MAX_STOP_LENGTH) {
                throw new ChatException("stop", "a stop string has 1 to " + MAX_STOP_LENGTH + " characters");
            }
        }
        this.stops = List.copyOf(stops);
    }

    /**
     * Takes more text and gives what may be shown. After a match that is the text before the stop string, and nothing
     * ever after. Of several stop strings the one that begins first wins; of those that begin together, the one that
     * ends first.
     */
    public String push(String text) {
        if (matched != null) {
            return "";
        }
        if (stops.isEmpty()) {
            return text;
        }
        held.append(text);
        return release(false);
    }

    /** What was held back and is no stop string, at the end of the text. */
    public String finish() {
        return matched != null ? "" : release(true);
    }

    /** Takes from the held text what is decided: all of it if the text ends here. */
    private String release(boolean ends) {
        for (int at = 0; at < held.length(); at++) {
            boolean undecided = false;
            for (String stop : stops) {
                switch (compare(stop, at)) {
                    case MATCH -> matched = matched == null || stop.length() < matched.length() ? stop : matched;
                    case UNDECIDED -> undecided |= !ends;
                    case DIFFERENT -> {}
                }
            }
            if (matched != null || undecided) {
                return takeUpTo(at);
            }
        }
        return takeUpTo(held.length());
    }

    private enum Comparison {
        MATCH,
        UNDECIDED,
        DIFFERENT
    }

    private Comparison compare(String stop, int at) {
        int common = Math.min(stop.length(), held.length() - at);
        for (int i = 0; i < common; i++) {
            if (stop.charAt(i) != held.charAt(at + i)) {
                return Comparison.DIFFERENT;
            }
        }
        return common == stop.length() ? Comparison.MATCH : Comparison.UNDECIDED;
    }

    private String takeUpTo(int end) {
        String text = held.substring(0, end);
        held.delete(0, end);
        return text;
    }

    /** The stop string that was met, or null. */
    public @Nullable String matched() {
        return matched;
    }
}
