package ai.deltafin.config;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every setting, each with a default: the shape of {@code conf/deltafin.json}. A section belongs to the room that reads
 * it; a new key is a new component of the section's record and a value in its {@code defaults()}.
 */
public record Config(
        ModelConfig model,
        EngineConfig engine,
        ExpertsConfig experts,
        GenerationConfig generation,
        PipelineConfig pipeline,
        ServerConfig server,
        StateConfig state,
        LogConfig log) {

    /** The settings of someone who set nothing. */
    public static Config defaults() {
        return new Config(
                ModelConfig.defaults(),
                EngineConfig.defaults(),
                ExpertsConfig.defaults(),
                GenerationConfig.defaults(),
                PipelineConfig.defaults(),
                ServerConfig.defaults(),
                StateConfig.defaults(),
                LogConfig.defaults());
    }

    /**
     * Merges defaults, file, environment and command line, the later ones winning.
     *
     * @param file JSON file to read; null reads none
     * @param environment the process's environment; variables that begin with {@code DELTAFIN_} count
     * @param overrides values of the command line by dotted key, for example {@code engine.threads}
     * @throws ConfigException for an unreadable file, an unknown key or a value out of range
     */
    public static Config load(@Nullable Path file, Map<String, String> environment, Map<String, String> overrides) {
        ConfigLoader loader = new ConfigLoader();
        if (file != null) {
            loader.file(file);
        }
        loader.environment(environment);
        loader.overrides(overrides);
        return loader.finish();
    }

    /** The whole configuration as indented JSON, every key written out. */
    public String toJson() {
        return ConfigLoader.write(this);
    }
}
