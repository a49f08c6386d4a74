package ai.deltafin.engine;

/** Which rows of a pass get logits. */
public enum Rows {
    NONE,
    LAST,
    ALL;

    /** First row of {@code count} that gets logits; {@code count} for none. */
    int first(int count) {
        return switch (this) {
            case NONE -> count;
            case LAST -> count - 1;
            case ALL -> 0;
        };
    }
}
