package ai.deltafin.bench;

import ai.deltafin.bench.SynthTensor.Values;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Draws values as fast as a disk takes them: each distribution is a table of 65,536 entries made once, and every draw is
 * 16 random bits that choose one. A block depends only on (seed, tensor, block), so blocks may be made in any order.
 */
final class SynthValues {
    private static final int TABLE = 1 << 16;
    private static final long STEP = 0x9E3779B97F4A7C15L;
    private static final int GROUP = 32;
    private static final double[] E2M1 = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

    private final Map<Values, short[]> tables = new HashMap<>();

    /** Makes the table of a distribution of 16-bit draws, if it is one. Not for several threads. */
    void prepare(Values values) {
        switch (values) {
            case Values.Normal16(double mean, double deviation) ->
                tables.computeIfAbsent(values, _ -> normal(mean, deviation));
            case Values.Codes _ -> tables.computeIfAbsent(values, _ -> codes());
            case Values.Scales(double deviation) -> tables.computeIfAbsent(values, _ -> scales(deviation));
            case Values.Normal32 _, Values.Uniform32 _ -> {}
        }
    }

    /** Fills a block, whose length is a multiple of 2, or of 4 for F32. {@code first}: its first byte in the tensor. */
    void fill(Values values, ByteBuffer block, long first, long blockSeed) {
        short[] table = tables.get(values);
        if (table != null) {
            draw(table, block, blockSeed);
            return;
        }
        SplittableRandom random = new SplittableRandom(blockSeed);
        for (long i = first / Float.BYTES; block.hasRemaining(); i++) {
            block.putFloat(
                    switch (values) {
                        case Values.Normal32(double mean, double deviation) ->
                            (float) (mean + deviation * random.nextGaussian());
                        case Values.Uniform32(double low, double high, int n) ->
                            i < n ? (float) random.nextDouble(low, high) : 0;
                        default -> throw new IllegalStateException(values + " was not prepared");
                    });
        }
    }

    private static void draw(short[] table, ByteBuffer block, long seed) {
        long state = seed;
        while (block.remaining() >= Long.BYTES) {
            long z = state += STEP;
            z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
            z ^= z >>> 27;
            block.putLong((table[(int) z & 0xFFFF] & 0xFFFFL)
                    | (table[(int) (z >>> 16) & 0xFFFF] & 0xFFFFL) << 16
                    | (table[(int) (z >>> 32) & 0xFFFF] & 0xFFFFL) << 32
                    | (table[(int) (z >>> 48)] & 0xFFFFL) << 48);
        }
        while (block.hasRemaining()) {
            state += STEP;
            short v = table[(int) (state >>> 48)];
            block.put((byte) v);
            if (block.hasRemaining()) {
                block.put((byte) (v >> 8));
            }
        }
    }

    private static short[] normal(double mean, double deviation) {
        Random random = new Random(1);
        short[] table = new short[TABLE];
        for (int i = 0; i < TABLE; i++) {
            int bits = Float.floatToIntBits((float) (mean + deviation * random.nextGaussian()));
            table[i] = (short) ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
        }
        return table;
    }

    /** Four e2m1 codes an entry, from groups of 32 normal weights scaled as a quantiser does. */
    private static short[] codes() {
        Random random = new Random(2);
        short[] table = new short[TABLE];
        double[] group = new double[GROUP];
        for (int i = 0; i < TABLE; ) {
            double scale = group(random, group, 1);
            for (int j = 0; j < GROUP && i < TABLE; j += 4) {
                int four = 0;
                for (int n = 0; n < 4; n++) {
                    four |= code(group[j + n] / scale) << (4 * n);
                }
                table[i++] = (short) four;
            }
        }
        return table;
    }

    private static double group(Random random, double[] group, double deviation) {
        double most = 0;
        for (int j = 0; j < GROUP; j++) {
            group[j] = deviation * random.nextGaussian();
            most = Math.max(most, Math.abs(group[j]));
        }
        return Math.scalb(1.0, Math.getExponent(most) - 2);
    }

    private static int code(double v) {
        int best = 0;
        for (int c = 1; c < E2M1.length; c++) {
            if (Math.abs(Math.abs(v) - E2M1[c]) < Math.abs(Math.abs(v) - E2M1[best])) {
                best = c;
            }
        }
        return v < 0 ? best | 8 : best;
    }

    /** Two scales an entry: the exponents that groups of such weights get, spread a little as rows differ. */
    private static short[] scales(double deviation) {
        Random random = new Random(3);
        short[] table = new short[TABLE];
        double[] group = new double[GROUP];
        for (int i = 0; i < TABLE; i++) {
            int pair = 0;
            for (int n = 0; n < 2; n++) {
                double row = Math.clamp(1 + 0.4 * random.nextGaussian(), 0.25, 2);
                pair |= (Math.getExponent(group(random, group, deviation * row)) + 127) << (8 * n);
            }
            table[i] = (short) pair;
        }
        return table;
    }
}
