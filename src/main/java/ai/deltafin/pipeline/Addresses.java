package ai.deltafin.pipeline;

/** Every address of the event bus, with the record that travels to it. */
public final class Addresses {

    /** {@link Arrival}: from the pipeline's door to a tokenizer verticle. */
    static final String TOKENIZE = "deltafin.tokenize";

    /** {@link TokenizedRequest}: from a tokenizer verticle to the decode verticle. */
    static final String DECODE = "deltafin.decode";

    private Addresses() {}
}
