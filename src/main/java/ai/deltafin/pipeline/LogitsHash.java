package ai.deltafin.pipeline;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A fingerprint of one row of logits: equal on every machine that computes the model exactly. */
public final class LogitsHash {

    private LogitsHash() {}

    /** SHA-256, in lower-case hex, of fp32 logits [vocabulary] as little-endian bytes. */
    public static String of(MemorySegment logits) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(logits.asByteBuffer());
            return HexFormat.of().formatHex(sha.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }
}
