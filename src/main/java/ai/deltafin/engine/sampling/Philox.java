package ai.deltafin.engine.sampling;

/**
 * Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011): a counter and a key make four
 * words, any of which can be had without the ones before.
 */
final class Philox {

    private static final int ROUNDS = 10;
    private static final int M0 = 0xD2511F53;
    private static final int M1 = 0xCD9E8D57;
    private static final int W0 = 0x9E3779B9;
    private static final int W1 = 0xBB67AE85;

    private Philox() {}

    /** Replaces the counter words in {@code x} by the output for this counter and key. */
    static void scramble(int[] x, int key0, int key1) {
        int k0 = key0;
        int k1 = key1;
        for (int round = 0; round < ROUNDS; round++) {
            long p0 = Integer.toUnsignedLong(M0) * Integer.toUnsignedLong(x[0]);
            long p1 = Integer.toUnsignedLong(M1) * Integer.toUnsignedLong(x[2]);
            int x1 = x[1];
            int x3 = x[3];
            x[0] = (int) (p1 >>> 32) ^ x1 ^ k0;
            x[1] = (int) p1;
            x[2] = (int) (p0 >>> 32) ^ x3 ^ k1;
            x[3] = (int) p0;
            k0 += W0;
            k1 += W1;
        }
    }
}
