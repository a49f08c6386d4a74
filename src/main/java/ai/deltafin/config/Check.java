package ai.deltafin.config;

import java.util.List;

/** The few range checks that every section needs; each message begins with the key, so that a reader finds it. */
final class Check {

    private Check() {}

    static void range(String key, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ConfigException(key + ": must be " + least + ".." + most + ", not " + value);
        }
    }

    static void range(String key, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new ConfigException(key + ": must be " + least + ".." + most + ", not " + value);
        }
    }

    static void oneOf(String key, String value, String... allowed) {
        if (!List.of(allowed).contains(value)) {
            throw new ConfigException(key + ": must be one of " + String.join(", ", allowed) + ", not '" + value + "'");
        }
    }

    static void notAuto(String key, ByteSize value) {
        if (value.isAuto()) {
            throw new ConfigException(key + ": needs a size such as 512MB, not auto");
        }
    }
}
