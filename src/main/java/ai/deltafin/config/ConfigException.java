package ai.deltafin.config;

/** A setting that cannot be honoured: names the key, where the value came from, what is wrong and what would be right. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }

    public ConfigException(String message, Throwable cause) {
        super(message, cause);
    }
}
