package ai.deltafin.config;

/**
 * What is logged, on stderr.
 *
 * @param level error, warning, info or debug
 */
public record LogConfig(String level) {

    public LogConfig {
        Check.oneOf("log.level", level, "error", "warning", "info", "debug");
    }

    static LogConfig defaults() {
        return new LogConfig("warning");
    }
}
