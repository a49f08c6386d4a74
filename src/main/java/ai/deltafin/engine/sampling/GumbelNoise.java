package ai.deltafin.engine.sampling;

/**
 * The noise of one seed and stream: Gumbel distributed, a function of position and id alone. Whoever evaluates it, in
 * whatever order, drafter or verifier, gets the same number; that makes sampling independent of drafting.
 */
final class GumbelNoise {

    /** No value is larger; the largest is 36.7368. */
    static final double MOST = 36.74;

    /** No two values differ by more: they lie in [-3.6038, 36.7368]. */
    static final double SPAN = 40.35;

    private final int seedLow;
    private final int seedHigh;
    private final int stream;
    private final int[] words = new int[4];

    GumbelNoise(long seed, int stream) {
        seedLow = (int) seed;
        seedHigh = (int) (seed >>> 32);
        this.stream = stream;
    }

    /** The 52 random bits k of a position and id: the top bits of one half of a Philox block. */
    long bits(long position, int id) {
        words[0] = id >>> 1;
        words[1] = (int) position;
        words[2] = (int) (position >>> 32);
        words[3] = stream;
        Philox.scramble(words, seedLow, seedHigh);
        int half = 2 * (id & 1);
        return (Integer.toUnsignedLong(words[half + 1]) << 32 | Integer.toUnsignedLong(words[half])) >>> 12;
    }

    /** g = -log(-log(u)) with u = (k + 1/2) / 2^52, which is exact in fp64. */
    double at(long position, int id) {
        double u = (bits(position, id) + 0.5) * 0x1p-52;
        return -Fp64.log(-Fp64.log(u));
    }
}
