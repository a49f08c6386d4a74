package ai.deltafin.chat;

/** White space as the released (Python) tokenizer and encoder see it, and the repair of lone surrogates. */
final class PythonText {

    private PythonText() {}

    /** Python's {@code str.isspace} of one code point: Unicode White_Space and U+001C..U+001F. */
    static boolean isSpace(int codePoint) {
        return switch (codePoint) {
            case ' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000 -> true;
            default ->
                (codePoint >= 0x09 && codePoint <= 0x0D)
                        || (codePoint >= 0x1C && codePoint <= 0x1F)
                        || (codePoint >= 0x2000 && codePoint <= 0x200A);
        };
    }

    /** Whether the text is empty or white space only; differs from {@link String#isBlank} for NBSP and others. */
    static boolean isBlank(String text) {
        return text.chars().allMatch(PythonText::isSpace);
    }

    /** Python's {@code str.strip()}. */
    static String strip(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && isSpace(text.charAt(start))) {
            start++;
        }
        while (end > start && isSpace(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }

    /**
     * Each lone surrogate replaced by U+FFFD, as tiktoken does: {@code getBytes(UTF_8)} would write a question mark
     * instead.
     */
    static String repairSurrogates(String text) {
        int i = firstLoneSurrogate(text, 0);
        if (i < 0) {
            return text;
        }
        StringBuilder repaired = new StringBuilder(text);
        for (; i >= 0; i = firstLoneSurrogate(text, i + 1)) {
            repaired.setCharAt(i, '\uFFFD');
        }
        return repaired.toString();
    }

    private static int firstLoneSurrogate(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                return i;
            }
        }
        return -1;
    }
}
