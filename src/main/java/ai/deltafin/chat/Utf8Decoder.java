package ai.deltafin.chat;

/**
 * Incremental UTF-8: a character appears with its last byte, and each maximal part of a character that cannot be
 * completed becomes one U+FFFD as soon as that is known (WHATWG Encoding, "UTF-8 decoder"). The JDK's decoder differs:
 * it replaces an encoded surrogate by one U+FFFD, and only with its third byte.
 */
final class Utf8Decoder {

    private static final char REPLACEMENT = '\uFFFD';

    private int codePoint;
    private int needed;

    /** Bounds of the next continuation byte; narrower than 80..BF only behind E0, ED, F0 and F4. */
    private int lower = 0x80;

    private int upper = 0xBF;

    /** Appends what these bytes complete. */
    void push(byte[] bytes, StringBuilder out) {
        for (byte b : bytes) {
            int value = b & 0xFF;
            if (needed > 0 && (value < lower || value > upper)) {
                finish(out);
            }
            if (needed > 0) {
                codePoint = (codePoint << 6) | (value & 0x3F);
                lower = 0x80;
                upper = 0xBF;
                if (--needed == 0) {
                    out.appendCodePoint(codePoint);
                }
            } else {
                lead(value, out);
            }
        }
    }

    private void lead(int value, StringBuilder out) {
        if (value < 0x80) {
            out.append((char) value);
        } else if (value >= 0xC2 && value <= 0xDF) {
            begin(value & 0x1F, 1, 0x80, 0xBF);
        } else if (value >= 0xE0 && value <= 0xEF) {
            begin(value & 0x0F, 2, value == 0xE0 ? 0xA0 : 0x80, value == 0xED ? 0x9F : 0xBF);
        } else if (value >= 0xF0 && value <= 0xF4) {
            begin(value & 0x07, 3, value == 0xF0 ? 0x90 : 0x80, value == 0xF4 ? 0x8F : 0xBF);
        } else {
            out.append(REPLACEMENT);
        }
    }

    private void begin(int bits, int following, int low, int high) {
        codePoint = bits;
        needed = following;
        lower = low;
        upper = high;
    }

    /** Ends the text here: a character begun and not completed becomes U+FFFD. */
    void finish(StringBuilder out) {
        if (needed > 0) {
            needed = 0;
            lower = 0x80;
            upper = 0xBF;
            out.append(REPLACEMENT);
        }
    }
}
