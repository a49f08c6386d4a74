package ai.deltafin.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where routed experts come from and how many bytes of them stay in RAM.
 *
 * @param cache bytes of the expert cache; auto takes what the residency plan leaves
 * @param memory bytes the whole process may hold; auto looks at live memory and the cgroup limit
 * @param pin bytes of the hottest experts that are never evicted
 * @param reader auto, io_uring or pread
 * @param prefetch auto (while it pays), on or off
 * @param drives roots that hold shards or packs; empty reads the model's own directory
 * @param trace file that receives the route trace as JSON lines; null writes none
 */
public record ExpertsConfig(
        ByteSize cache,
        ByteSize memory,
        ByteSize pin,
        String reader,
        String prefetch,
        List<DriveConfig> drives,
        @Nullable String trace) {

    public ExpertsConfig {
        Check.notAuto("experts.pin", pin);
        Check.oneOf("experts.reader", reader, "auto", "io_uring", "pread");
        Check.oneOf("experts.prefetch", prefetch, "auto", "on", "off");
        drives = List.copyOf(drives);
    }

    static ExpertsConfig defaults() {
        return new ExpertsConfig(ByteSize.AUTO, ByteSize.AUTO, ByteSize.ZERO, "auto", "auto", List.of(), null);
    }
}
