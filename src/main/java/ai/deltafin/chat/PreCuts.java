package ai.deltafin.chat;

import java.util.ArrayList;
import java.util.List;

/**
 * The released tokenizer's cuts before splitting: every 400,000 code points, and before the 25,001st character of a run
 * that is all white space or all something else. What a cut separates never merges, so the cuts belong to the ids.
 */
final class PreCuts {

    static final int PART_CODE_POINTS = 400_000;
    static final int RUN_CODE_POINTS = 25_000;

    private PreCuts() {}

    /** The pieces of the text in order; joined they are the text. None for the empty text. */
    static List<String> of(String text) {
        if (text.length() <= RUN_CODE_POINTS) {
            return text.isEmpty() ? List.of() : List.of(text);
        }
        List<String> pieces = new ArrayList<>();
        int start = 0;
        int inPart = 0;
        int run = 0;
        boolean runIsSpace = false;
        for (int i = 0, width; i < text.length(); i += width) {
            int codePoint = text.codePointAt(i);
            width = Character.charCount(codePoint);
            boolean space = PythonText.isSpace(codePoint);
            boolean partEnds = inPart == PART_CODE_POINTS;
            if (partEnds) {
                inPart = 0;
                run = 0;
            }
            inPart++;
            run = space == runIsSpace ? run + 1 : 1;
            runIsSpace = space;
            boolean runEnds = run > RUN_CODE_POINTS;
            if (runEnds) {
                run = 1;
            }
            if (partEnds || runEnds) {
                pieces.add(text.substring(start, i));
                start = i;
            }
        }
        pieces.add(text.substring(start));
        return pieces;
    }
}
