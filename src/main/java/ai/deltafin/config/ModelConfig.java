package ai.deltafin.config;

import org.jspecify.annotations.Nullable;

/**
 * Which model is run.
 *
 * @param dir directory of the checkpoint; null runs the embedded demo checkpoint
 * @param name what the server calls the model; null takes the directory's name
 */
public record ModelConfig(@Nullable String dir, @Nullable String name) {

    static ModelConfig defaults() {
        return new ModelConfig(null, null);
    }
}
