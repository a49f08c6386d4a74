package ai.deltafin.chat;

/** Tokenizer files that cannot be used: names the file, what is wrong in it, and what is expected. */
public final class TokenizerException extends RuntimeException {

    /** With the complete message. */
    public TokenizerException(String message) {
        super(message);
    }

    /** With the complete message and what caused it. */
    public TokenizerException(String message, Throwable cause) {
        super(message, cause);
    }
}
