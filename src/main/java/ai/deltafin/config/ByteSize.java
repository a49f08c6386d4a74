package ai.deltafin.config;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes as people write it: {@code 512MB}, {@code 24GiB}, {@code 4096}, or {@code auto} for "the planner
 * decides". MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024.
 *
 * @param bytes the size, 0 or more; {@link #AUTO_BYTES} for {@code auto}
 */
public record ByteSize(long bytes) {

    private static final long AUTO_BYTES = -1;

    /** The size the planner chooses from live memory. */
    public static final ByteSize AUTO = new ByteSize(AUTO_BYTES);

    /** Nothing at all. */
    public static final ByteSize ZERO = new ByteSize(0);

    private static final Pattern WRITTEN = Pattern.compile("([0-9]{1,18})(?:\\.([0-9]{1,6}))?\\s*([A-Za-z]*)");

    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("", 1L),
            Map.entry("b", 1L),
            Map.entry("kb", 1_000L),
            Map.entry("mb", 1_000_000L),
            Map.entry("gb", 1_000_000_000L),
            Map.entry("tb", 1_000_000_000_000L),
            Map.entry("kib", 1L << 10),
            Map.entry("mib", 1L << 20),
            Map.entry("gib", 1L << 30),
            Map.entry("tib", 1L << 40));

    /**
     * Reads a written size.
     *
     * @throws IllegalArgumentException if it is not a size, or does not fit 63 bits
     */
    @JsonCreator
    public static ByteSize parse(String text) {
        String trimmed = text.trim();
        if (trimmed.equalsIgnoreCase("auto")) {
            return AUTO;
        }
        Matcher m = WRITTEN.matcher(trimmed);
        Long unit = m.matches() ? UNITS.get(m.group(3).toLowerCase(Locale.ROOT)) : null;
        if (unit == null) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a size: write 512MB, 24GiB, a number of bytes, or auto");
        }
        try {
            long whole = Math.multiplyExact(Long.parseLong(m.group(1)), unit);
            if (m.group(2) == null) {
                return new ByteSize(whole);
            }
            return new ByteSize(Math.addExact(whole, (long) (Double.parseDouble("0." + m.group(2)) * unit)));
        } catch (ArithmeticException _) {
            throw new IllegalArgumentException("'" + text + "' is more bytes than a 63-bit number holds");
        }
    }

    /** Whether the planner decides. */
    public boolean isAuto() {
        return bytes == AUTO_BYTES;
    }

    /** The size, or another where the planner was to decide. */
    public long orElse(long automatic) {
        return isAuto() ? automatic : bytes;
    }

    /** The shortest exact spelling: the inverse of {@link #parse}. */
    @Override
    @JsonValue
    public String toString() {
        if (isAuto()) {
            return "auto";
        }
        for (String unit : List.of("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "KB")) {
            long size = UNITS.getOrDefault(unit.toLowerCase(Locale.ROOT), 1L);
            if (bytes != 0 && bytes % size == 0) {
                return bytes / size + unit;
            }
        }
        return Long.toString(bytes);
    }
}
