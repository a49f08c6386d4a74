package ai.deltafin.chat;

/**
 * Ids to text as they come: half a character is held back until it is whole, bytes that are no UTF-8 become one U+FFFD
 * per maximal part. The pieces joined are the whole text, wherever the stream is cut. For one thread.
 */
public final class StreamDecoder {

    /** What becomes of control tokens. */
    public enum Controls {
        /** They end a character and show nothing. */
        HIDDEN,
        /** They are written as text. */
        SPELLED
    }

    private final Tokenizer tokenizer;
    private final Controls controls;
    private final Utf8Decoder utf8 = new Utf8Decoder();
    private final StringBuilder out = new StringBuilder();

    /** A decoder at the start of a text. */
    public StreamDecoder(Tokenizer tokenizer, Controls controls) {
        this.tokenizer = tokenizer;
        this.controls = controls;
    }

    /**
     * What may be shown after this id; often one word, sometimes nothing.
     *
     * @throws IllegalArgumentException if the id has no token
     */
    public String push(int id) {
        if (!tokenizer.controls().contains(id)) {
            utf8.push(tokenizer.bytes(id), out);
        } else {
            utf8.finish(out);
            if (controls == Controls.SPELLED) {
                out.append(tokenizer.controls().spelling(id));
            }
        }
        return take();
    }

    /** What is still held back, at the end of the text. */
    public String finish() {
        utf8.finish(out);
        return take();
    }

    private String take() {
        String text = out.toString();
        out.setLength(0);
        return text;
    }
}
