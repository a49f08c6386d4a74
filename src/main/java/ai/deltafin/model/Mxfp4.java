package ai.deltafin.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Supplier;

/**
 * The four-bit format of the experts (k3-model.md 2.3): e2m1 elements, two a byte, and one e8m0 scale byte b = 2^(b - 127)
 * for 32 consecutive columns.
 */
public final class Mxfp4 {
    /** Columns that share a scale. */
    public static final int GROUP = 32;

    /** Columns in one packed byte. */
    public static final int PACKED = 2;

    /**
     * Smallest scale byte accepted, 2^-100. Kernels multiply a sum of two products by the scale; below this a product may be
     * subnormal and the bits would depend on where the scale is applied.
     */
    public static final int MIN_SCALE = 27;

    /** Largest scale byte accepted, 2^125: 6 times the next one is no finite fp32. 255 is NaN. */
    public static final int MAX_SCALE = 252;

    private static final long EACH_BYTE = 0x0101010101010101L;
    private static final long EACH_TOP_BIT = 0x8080808080808080L;

    private Mxfp4() {}

    /** Index of the first scale byte that is not accepted; -1 if all are. */
    public static long firstBadScale(MemorySegment scales) {
        long size = scales.byteSize();
        long words = size - size % Long.BYTES;
        long i = 0;
        while (i < words && !anyBad(scales.get(ValueLayout.JAVA_LONG_UNALIGNED, i))) {
            i += Long.BYTES;
        }
        for (; i < size; i++) {
            int scale = scales.get(ValueLayout.JAVA_BYTE, i) & 0xff;
            if (scale < MIN_SCALE || scale > MAX_SCALE) {
                return i;
            }
        }
        return -1;
    }

    /** Whether one of eight bytes is below the smallest or above the largest scale, which is: its complement is small. */
    private static boolean anyBad(long bytes) {
        return (anyBelow(bytes, MIN_SCALE) | anyBelow(~bytes, 255 - MAX_SCALE)) != 0;
    }

    /** Not 0 if one of eight bytes is below n, n at most 128: the classic test by one subtraction in all bytes. */
    private static long anyBelow(long bytes, long n) {
        return (bytes - EACH_BYTE * n) & ~bytes & EACH_TOP_BIT;
    }

    /** Throws {@link ModelException} if a scale byte is not accepted; {@code where} names file and tensor. */
    public static void checkScales(MemorySegment scales, Supplier<String> where) {
        long bad = firstBadScale(scales);
        if (bad >= 0) {
            int found = scales.get(ValueLayout.JAVA_BYTE, bad) & 0xff;
            throw new ModelException(
                    where.get() + ": scale byte " + bad + ": expected " + MIN_SCALE + " to " + MAX_SCALE
                            + ", found " + found + (found == 255 ? " (not a number)" : "")
                            + "; the file is damaged: download it again");
        }
    }
}
