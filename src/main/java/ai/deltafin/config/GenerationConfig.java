package ai.deltafin.config;

/**
 * What a request gets that names nothing else.
 *
 * @param maxNewTokens bound on new tokens of {@code run}
 * @param temperature 0 is greedy
 * @param topP nucleus: shortest set of ids whose probability reaches it; 1 keeps all
 * @param topK keeps the k most probable ids; 0 keeps all
 * @param minP drops ids less probable than this times the most probable one; 0 keeps all
 */
public record GenerationConfig(int maxNewTokens, double temperature, double topP, int topK, double minP) {

    public GenerationConfig {
        Check.range("generation.maxNewTokens", maxNewTokens, 1, 1 << 20);
        Check.range("generation.temperature", temperature, 0, 100);
        Check.range("generation.topP", topP, 0, 1);
        Check.range("generation.topK", topK, 0, Integer.MAX_VALUE);
        Check.range("generation.minP", minP, 0, 1);
    }

    static GenerationConfig defaults() {
        return new GenerationConfig(512, 0, 1, 0, 0);
    }
}
