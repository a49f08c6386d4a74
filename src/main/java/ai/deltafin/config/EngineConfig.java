package ai.deltafin.config;

/**
 * How the arithmetic is run. None of these changes a result, except {@code loraEps}, which is part of the model's
 * definition (k3-model.md 8.3).
 *
 * @param threads compute threads; 0 takes every core the process may use
 * @param isa instruction set of the kernels: auto, scalar, avx2, avx512 or neon; an override can only lower the tier
 * @param loraEps epsilon of the norm between the low-rank projections
 * @param prefillChunk rows of one prefill pass; cancellation and progress are seen between passes and between layers
 * @param context most positions of a session, prompt and answer together
 */
public record EngineConfig(int threads, String isa, double loraEps, int prefillChunk, int context) {

    public EngineConfig {
        Check.range("engine.threads", threads, 0, 1024);
        Check.oneOf("engine.isa", isa, "auto", "scalar", "avx2", "avx512", "neon");
        Check.range("engine.loraEps", loraEps, 1e-12, 0.1);
        Check.range("engine.prefillChunk", prefillChunk, 1, 65_536);
        Check.range("engine.context", context, 2, Integer.MAX_VALUE);
    }

    static EngineConfig defaults() {
        return new EngineConfig(0, "auto", 1e-5, 512, 1 << 20);
    }
}
