package ai.deltafin.config;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/**
 * One root of expert files, written {@code DIR} or {@code DIR=SHARE}.
 *
 * @param dir directory on the drive
 * @param share weight of this drive among the others, above 0; 0 lets the planner measure
 */
public record DriveConfig(String dir, double share) {

    public DriveConfig {
        if (dir.isBlank()) {
            throw new ConfigException("experts.drives: a drive needs a directory: DIR or DIR=SHARE");
        }
        Check.range("experts.drives share of " + dir, share, 0, 1e9);
    }

    /** Reads {@code DIR} or {@code DIR=SHARE}; the last equals sign counts, so that a directory may hold one. */
    @JsonCreator
    public static DriveConfig parse(String text) {
        int at = text.lastIndexOf('=');
        if (at < 0) {
            return new DriveConfig(text, 0);
        }
        try {
            return new DriveConfig(text.substring(0, at), Double.parseDouble(text.substring(at + 1)));
        } catch (NumberFormatException _) {
            throw new ConfigException("experts.drives: '" + text + "': the share after '=' must be a number");
        }
    }

    /** The inverse of {@link #parse}. */
    @Override
    @JsonValue
    public String toString() {
        return share == 0 ? dir : dir + "=" + share;
    }
}
