package ai.deltafin.chat;

/** Whether the model thinks before it answers, and how much. */
public enum Thinking {
    /** No think channel at all. */
    OFF,
    /** Thinks; the prompt does not say how much. */
    UNSTATED,
    LOW,
    HIGH,
    /** What the released tokenizer takes when nothing is asked. */
    MAX;

    /** Whether answers have a think channel. */
    public boolean on() {
        return this != OFF;
    }

    /**
     * The nearest effort for what OpenAI clients ask: {@code none} is off, {@code minimal} and {@code low} are low,
     * {@code medium} and {@code high} are high, {@code xhigh} and {@code max} are max.
     *
     * @throws ChatException for any other word, naming {@code field}
     */
    public static Thinking ofEffort(String effort, String field) {
        return switch (effort) {
            case "none" -> OFF;
            case "minimal", "low" -> LOW;
            case "medium", "high" -> HIGH;
            case "xhigh", "max" -> MAX;
            default ->
                throw new ChatException(
                        field, "\"" + effort + "\" is none of none, minimal, low, medium, high, xhigh, max");
        };
    }
}
