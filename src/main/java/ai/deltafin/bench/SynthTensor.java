package ai.deltafin.bench;

import java.util.List;

/**
 * A tensor of a synthetic checkpoint and how its values are distributed.
 *
 * @param name with the released prefix
 * @param dtype as safetensors writes it
 * @param shape row-major
 * @param values the distribution
 */
record SynthTensor(String name, String dtype, List<Integer> shape, Values values) {
    /** How values are drawn. */
    sealed interface Values {
        /** BF16, normal around a mean. */
        record Normal16(double mean, double deviation) implements Values {}

        /** F32, normal around a mean. */
        record Normal32(double mean, double deviation) implements Values {}

        /** F32, uniform; values from {@code random} on are zero. */
        record Uniform32(double low, double high, int random) implements Values {}

        /** Pairs of e2m1 codes as normal weights have after scaling by groups of 32. */
        record Codes() implements Values {}

        /** Their e8m0 scales for weights of that deviation. */
        record Scales(double deviation) implements Values {}
    }

    long bytes() {
        long n = switch (dtype) {
            case "BF16" -> 2;
            case "F32" -> 4;
            default -> 1;
        };
        for (int dimension : shape) {
            n *= dimension;
        }
        return n;
    }
}
