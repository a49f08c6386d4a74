package ai.deltafin.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** "Did you mean": the nearest of the known names to one that is not known. */
public final class Suggestion {

    private Suggestion() {}

    /** The known name with the fewest edits from {@code wrong}, if at most a third of its letters differ. */
    public static Optional<String> nearest(String wrong, Collection<String> known) {
        String low = wrong.toLowerCase(Locale.ROOT);
        return known.stream()
                .min(Comparator.comparingInt(name -> edits(low, name.toLowerCase(Locale.ROOT))))
                .filter(name -> edits(low, name.toLowerCase(Locale.ROOT)) <= Math.max(2, name.length() / 3));
    }

    /** The nearest name as the end of a message: {@code "; did you mean 'x'?"}, or nothing. */
    public static String phrase(String wrong, Collection<String> known) {
        return nearest(wrong, known)
                .map(name -> "; did you mean '" + name + "'?")
                .orElse("");
    }

    /** Levenshtein distance: insertions, deletions and replacements of one character. */
    private static int edits(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
