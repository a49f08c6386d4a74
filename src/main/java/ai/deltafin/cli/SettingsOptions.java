package ai.deltafin.cli;

import ai.deltafin.config.Config;
import ai.deltafin.config.ConfigException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/**
 * The settings that every command with a model takes, each an override of one config key. An option only writes its text
 * down: {@link Config#load} reads and checks it, as it does for a file.
 */
public final class SettingsOptions {

    private final Map<String, String> overrides = new LinkedHashMap<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Config file; else the variable DELTAFIN_CONFIG names it.")
    @Nullable
    Path file;

    @Option(names = "--model", paramLabel = "DIR", description = "Checkpoint directory; else the embedded demo model.")
    void model(String dir) {
        overrides.put("model.dir", dir);
    }

    @Option(names = "--threads", paramLabel = "N", description = "Compute threads; 0 takes all cores.")
    void threads(String threads) {
        overrides.put("engine.threads", threads);
    }

    @Option(names = "--isa", paramLabel = "NAME", description = "auto, scalar, avx2, avx512 or neon.")
    void isa(String isa) {
        overrides.put("engine.isa", isa);
    }

    @Option(names = "--prefill-chunk", paramLabel = "ROWS", description = "Rows of one prefill pass.")
    void prefillChunk(String rows) {
        overrides.put("engine.prefillChunk", rows);
    }

    @Option(names = "--lora-eps", paramLabel = "E", description = "Epsilon of the low-rank norm.")
    void loraEps(String eps) {
        overrides.put("engine.loraEps", eps);
    }

    @Option(names = "--expert-cache", paramLabel = "SIZE", description = "Bytes of experts kept in RAM, or auto.")
    void expertCache(String size) {
        overrides.put("experts.cache", size);
    }

    @Option(names = "--memory", paramLabel = "SIZE", description = "Bytes the process may hold, or auto.")
    void memory(String size) {
        overrides.put("experts.memory", size);
    }

    @Option(names = "--pin", paramLabel = "SIZE", description = "Bytes of the hottest experts that stay.")
    void pin(String size) {
        overrides.put("experts.pin", size);
    }

    @Option(names = "--reader", paramLabel = "NAME", description = "auto, io_uring or pread.")
    void reader(String reader) {
        overrides.put("experts.reader", reader);
    }

    @Option(names = "--prefetch", paramLabel = "WHEN", description = "auto, on or off.")
    void prefetch(String when) {
        overrides.put("experts.prefetch", when);
    }

    @Option(names = "--drive", paramLabel = "DIR[=SHARE]", description = "Root of expert files; may be repeated.")
    void drive(String[] drives) {
        overrides.put("experts.drives", JsonMapper.shared().writeValueAsString(drives));
    }

    @Option(names = "--trace", paramLabel = "FILE", description = "Writes the route trace as JSON lines.")
    void trace(String trace) {
        overrides.put("experts.trace", trace);
    }

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Sets any key of docs/config.md; may be repeated.")
    void set(String[] settings) {
        for (String setting : settings) {
            int at = setting.indexOf('=');
            if (at <= 0) {
                throw new ConfigException("--set " + setting + ": write KEY=VALUE");
            }
            overrides.put(setting.substring(0, at), setting.substring(at + 1));
        }
    }

    /** Overrides a key from an option that only one command has. */
    void override(String key, String value) {
        overrides.put(key, value);
    }

    /**
     * The configuration that these options, the environment and the file make together.
     *
     * @throws ConfigException for anything that cannot be honoured
     */
    public Config load() {
        Map<String, String> environment = System.getenv();
        String named = environment.get("DELTAFIN_CONFIG");
        Path chosen = file != null || named == null ? file : Path.of(named);
        return Config.load(chosen, environment, overrides);
    }
}
