package ai.deltafin.config;

/**
 * Session state kept between requests.
 *
 * @param memory bytes of session snapshots kept in RAM
 */
public record StateConfig(ByteSize memory) {

    public StateConfig {
        Check.notAuto("state.memory", memory);
    }

    static StateConfig defaults() {
        return new StateConfig(ByteSize.parse("1GiB"));
    }
}
