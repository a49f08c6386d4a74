package ai.deltafin.chat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;

/**
 * The merge ranks of a vocabulary: token {@code id} is {@code bytes[offsets[id] .. offsets[id+1])}, and the id is also
 * the merge priority. An open-addressing table gives the id of a byte slice without making an object; its polynomial hash
 * follows from two hashes of prefixes, so that a slice costs the same whatever its length.
 */
final class RankTable {

    /** No such token. */
    static final int NONE = -1;

    private static final int BASE = 0x2F0B4A35;
    private static final int MAX_FILE_BYTES = 8 << 20;
    private static final int MAX_TOKEN_BYTES = 4096;

    private final byte[] bytes;
    private final int[] offsets;

    /** {@code hash << 32 | id}, or {@link #NONE}. */
    private final long[] slots;

    /** Powers of {@link #BASE}, up to the longest token. */
    private final int[] powers;

    private final int longest;

    private RankTable(byte[] bytes, int[] offsets, Path file) {
        this.bytes = bytes;
        this.offsets = offsets;
        slots = new long[Integer.highestOneBit(Math.max(16, size())) * 4];
        Arrays.fill(slots, NONE);
        int max = 0;
        for (int id = 0; id < size(); id++) {
            int hash = hash(bytes, offsets[id], offsets[id + 1]);
            int slot = slotOf(bytes, offsets[id], offsets[id + 1], hash);
            if (slots[slot] != NONE) {
                throw new TokenizerException(
                        file + ": line " + (id + 1) + " repeats the token of line " + ((int) slots[slot] + 1));
            }
            slots[slot] = ((long) hash << 32) | id;
            max = Math.max(max, length(id));
        }
        longest = max;
        powers = new int[max + 1];
        powers[0] = 1;
        for (int i = 1; i <= max; i++) {
            powers[i] = powers[i - 1] * BASE;
        }
    }

    /**
     * Reads a rank file: one line a token, {@code base64(bytes) SP rank}, ranks 0, 1, 2, ... in order.
     *
     * @throws TokenizerException if the file is too large, a line is malformed, a rank is missing or out of order, a
     *     token stands twice, or one of the 256 single bytes is missing
     */
    static RankTable read(Path file) {
        byte[] text = BoundedFile.read(file, MAX_FILE_BYTES);
        byte[] bytes = new byte[text.length];
        int[] offsets = new int[text.length / 4 + 2];
        int count = 0;
        int used = 0;
        for (int at = 0; at < text.length; ) {
            int end = lineEnd(text, at);
            if (end > at) {
                byte[] token = token(text, at, end, count, file);
                System.arraycopy(token, 0, bytes, used, token.length);
                used += token.length;
                offsets[++count] = used;
            }
            at = end + 1;
        }
        RankTable table = new RankTable(Arrays.copyOf(bytes, used), Arrays.copyOf(offsets, count + 1), file);
        table.requireEveryByte(file);
        return table;
    }

    private static int lineEnd(byte[] text, int at) {
        int end = at;
        while (end < text.length && text[end] != '\n') {
            end++;
        }
        return end;
    }

    private static byte[] token(byte[] text, int start, int end, int rank, Path file) {
        int space = start;
        while (space < end && text[space] != ' ') {
            space++;
        }
        String written =
                new String(text, Math.min(space + 1, end), Math.max(0, end - space - 1), StandardCharsets.US_ASCII);
        if (!written.strip().equals(Integer.toString(rank))) {
            throw bad(file, rank, "expected rank " + rank + " behind the token, found \"" + abbreviate(written) + "\"");
        }
        byte[] token;
        try {
            token = Base64.getDecoder().decode(Arrays.copyOfRange(text, start, space));
        } catch (IllegalArgumentException e) {
            throw bad(file, rank, "the token is not base64: " + e.getMessage());
        }
        if (token.length == 0 || token.length > MAX_TOKEN_BYTES) {
            throw bad(file, rank, "a token has 1 to " + MAX_TOKEN_BYTES + " bytes, this one " + token.length);
        }
        return token;
    }

    private static String abbreviate(String text) {
        return text.length() <= 20 ? text : text.substring(0, 20) + "...";
    }

    private static TokenizerException bad(Path file, int rank, String what) {
        return new TokenizerException(file + ": line " + (rank + 1) + ": " + what);
    }

    private void requireEveryByte(Path file) {
        for (int b = 0; b < 256; b++) {
            byte[] single = {(byte) b};
            if (id(single, 0, 1) == NONE) {
                throw new TokenizerException(file + ": no token for the single byte 0x" + Integer.toHexString(b)
                        + "; a rank file has all 256, so this one is cut off or no rank file");
            }
        }
    }

    /** Number of ranks. */
    int size() {
        return offsets.length - 1;
    }

    /** Bytes of the longest token. */
    int longest() {
        return longest;
    }

    /** Length of a token in bytes. */
    int length(int id) {
        return offsets[id + 1] - offsets[id];
    }

    /** A copy of a token's bytes. */
    byte[] bytes(int id) {
        return Arrays.copyOfRange(bytes, offsets[id], offsets[id + 1]);
    }

    /** The id of {@code text[start .. end)}, or {@link #NONE}. */
    int id(byte[] text, int start, int end) {
        return end - start > longest ? NONE : (int) slots[slotOf(text, start, end, hash(text, start, end))];
    }

    /** As {@link #id(byte[], int, int)}, with the text's {@link #hashPrefixes}. */
    int id(byte[] text, int start, int end, int[] prefixes) {
        int length = end - start;
        if (length > longest) {
            return NONE;
        }
        return (int) slots[slotOf(text, start, end, prefixes[end] - prefixes[start] * powers[length])];
    }

    /** Fills {@code prefixes[i]} with the hash of the first {@code i} bytes. */
    static void hashPrefixes(byte[] text, int[] prefixes) {
        prefixes[0] = 0;
        for (int i = 0; i < text.length; i++) {
            prefixes[i + 1] = BASE * prefixes[i] + text[i];
        }
    }

    private static int hash(byte[] text, int start, int end) {
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = BASE * hash + text[i];
        }
        return hash;
    }

    /** The slot that holds the slice, or the free slot where it belongs. */
    private int slotOf(byte[] text, int start, int end, int hash) {
        int mask = slots.length - 1;
        for (int slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
            long entry = slots[slot];
            if (entry == NONE) {
                return slot;
            }
            int id = (int) entry;
            if ((int) (entry >>> 32) == hash && Arrays.equals(bytes, offsets[id], offsets[id + 1], text, start, end)) {
                return slot;
            }
        }
    }
}
