package ai.deltafin.engine.sampling;

/** A JSON schema that decoding cannot be held to. Names the place in the schema. */
public final class SchemaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A refusal.
     *
     * @param pointer JSON pointer of the offending keyword within the schema
     * @param reason what is wrong
     */
    public SchemaException(String pointer, String reason) {
        super((pointer.isEmpty() ? "" : pointer + ": ") + reason);
    }
}
