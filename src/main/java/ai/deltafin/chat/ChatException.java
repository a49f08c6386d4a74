package ai.deltafin.chat;

/** A request that the chat format cannot express. Names the field, so that a server can answer 400 with {@code param}. */
public final class ChatException extends RuntimeException {

    private final String field;

    /**
     * A refusal.
     *
     * @param field path of the offending field, for example {@code messages[2].tool_calls[0].function.arguments}
     * @param reason what is wrong and what would be right
     */
    public ChatException(String field, String reason) {
        super(field + ": " + reason);
        this.field = field;
    }

    /** Path of the offending field in the request. */
    public String field() {
        return field;
    }
}
