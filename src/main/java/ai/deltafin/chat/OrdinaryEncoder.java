package ai.deltafin.chat;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.GptBytePairEncodingParams;
import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Encodes text in which nothing is a control token. JTokkit does it, except where a piece of {@value #LONG_PIECE_BYTES}
 * bytes or more is possible: there its second method would begin, which takes seconds for a megabyte of one character and
 * merges rank by rank; {@link BytePairMerge} takes over, with equal ids.
 */
final class OrdinaryEncoder {

    /** JTokkit's own threshold between its exact array scan and its tree of ranks. */
    static final int LONG_PIECE_BYTES = 500;

    /** A piece is at most two runs, white space and anything else, of at most 3 bytes a char. */
    private static final int LONG_RUN_CHARS = LONG_PIECE_BYTES / 3 / 2 - 1;

    /** Text between two looks at the cancellation. */
    private static final int SLICE_CHARS = 16_384;

    /** The released split pattern, in Java's spelling. */
    static final Pattern SPLIT = Pattern.compile(
            "[\\p{IsHan}]+"
                    + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]*"
                    + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
                    + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]+"
                    + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{IsHan}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
                    + "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
            Pattern.UNICODE_CHARACTER_CLASS);

    private final RankTable ranks;
    private final Encoding jtokkit;

    OrdinaryEncoder(RankTable ranks) {
        this.ranks = ranks;
        Map<byte[], Integer> byBytes = HashMap.newHashMap(ranks.size());
        for (int id = 0; id < ranks.size(); id++) {
            byBytes.put(ranks.bytes(id), id);
        }
        jtokkit = Encodings.newLazyEncodingRegistry()
                .registerGptBytePairEncoding(new GptBytePairEncodingParams("k3", SPLIT, byBytes, Map.of()))
                .getEncoding("k3")
                .orElseThrow();
    }

    /** Appends the ids of one piece that the pre-cuts left, without lone surrogates. */
    void encode(String text, IntArrayList ids, BooleanSupplier cancelled) {
        BytePairMerge merge = new BytePairMerge(ranks);
        for (int start = 0, end; start < text.length(); start = end) {
            Tokenizer.stopIf(cancelled);
            end = sliceEnd(text, start);
            slice(text.substring(start, end), merge, ids, cancelled);
        }
    }

    /**
     * The first place behind {@link #SLICE_CHARS} characters where the pattern always ends a piece and looks across
     * nothing: a space between two ASCII letters, or behind a line end that no white space follows.
     */
    private static int sliceEnd(String text, int start) {
        for (int i = start + SLICE_CHARS; i + 1 < text.length(); i++) {
            char before = text.charAt(i - 1);
            char at = text.charAt(i);
            boolean word = at == ' ' && isAsciiLetter(before) && isAsciiLetter(text.charAt(i + 1));
            boolean line = (before == '\n' || before == '\r') && !PythonText.isSpace(at);
            if (word || line) {
                return i;
            }
        }
        return text.length();
    }

    private static boolean isAsciiLetter(char c) {
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    }

    private void slice(String text, BytePairMerge merge, IntArrayList ids, BooleanSupplier cancelled) {
        if (hasLongRun(text)) {
            Matcher pieces = SPLIT.matcher(text);
            while (pieces.find()) {
                Tokenizer.stopIf(cancelled);
                merge.encode(pieces.group().getBytes(StandardCharsets.UTF_8), ids);
            }
        } else {
            for (int id : jtokkit(text)) {
                ids.add(id);
            }
        }
    }

    /** JTokkit alone, whatever the text is like. */
    int[] jtokkit(String text) {
        return jtokkit.encodeOrdinary(text).toArray();
    }

    private static boolean hasLongRun(String text) {
        int run = 0;
        boolean runIsSpace = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // To the pattern, unlike the cuts, U+001C..U+001F are no white space.
            boolean space = PythonText.isSpace(c) && (c < 0x1C || c > 0x1F);
            run = space == runIsSpace ? run + 1 : 1;
            runIsSpace = space;
            if (run >= LONG_RUN_CHARS) {
                return true;
            }
        }
        return false;
    }
}
