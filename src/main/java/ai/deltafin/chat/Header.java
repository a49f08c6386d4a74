package ai.deltafin.chat;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What stands between {@code <|open|>} or {@code <|close|>} and {@code <|sep|>}: a tag, then {@code key="value"} pairs.
 *
 * @param tag empty if the model named none
 */
record Header(String tag, Map<String, String> attributes) {

    /** Reads leniently: what is no attribute is passed over, the first of a repeated key counts. */
    static Header parse(String text) {
        int at = 0;
        while (at < text.length() && !PythonText.isSpace(text.charAt(at))) {
            at++;
        }
        String tag = text.substring(0, at);
        Map<String, String> attributes = new HashMap<>();
        while (at < text.length()) {
            int quote = text.indexOf("=\"", at);
            int end = quote < 0 ? -1 : text.indexOf('"', quote + 2);
            if (end < 0) {
                break;
            }
            String key = PythonText.strip(text.substring(at, quote));
            attributes.putIfAbsent(key, unescape(text.substring(quote + 2, end)));
            at = end + 1;
        }
        return new Header(tag, Map.copyOf(attributes));
    }

    private static String unescape(String value) {
        return value.replace("&quot;", "\"").replace("&amp;", "&");
    }

    /** The attribute's value, or null. */
    @Nullable
    String attribute(String key) {
        return attributes.get(key);
    }
}
