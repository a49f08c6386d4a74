package ai.deltafin.chat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;

/**
 * The merge ranks of a vocabulary: token {@code id} is {@code bytes[offsets[id] .. offsets[id+1])}, and the id is also
 * the merge priority. An open-addressing hash over those bytes gives the id of a byte slice without making an object.
 */
final class RankTable {

    /** No such token. */
    static final int NONE = -1;

    private static final int MAX_FILE_BYTES = 8 << 20;
    private static final int MAX_TOKEN_BYTES = 4096;

    private final byte[] bytes;
    private final int[] offsets;
    private final int[] slots;
    private final int longest;

    private RankTable(byte[] bytes, int[] offsets, Path file) {
        this.bytes = bytes;
        this.offsets = offsets;
        slots = new int[Integer.highestOneBit(Math.max(16, size())) * 4];
        Arrays.fill(slots, NONE);
        int max = 0;
        for (int id = 0; id < size(); id++) {
            int slot = slotOf(bytes, offsets[id], offsets[id + 1]);
            if (slots[slot] != NONE) {
                throw new TokenizerException(
                        file + ": line " + (id + 1) + " repeats the token of line " + (slots[slot] + 1));
            }
            slots[slot] = id;
            max = Math.max(max, length(id));
        }
        longest = max;
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
        return end - start > longest ? NONE : slots[slotOf(text, start, end)];
    }

    /** The slot that holds the slice, or the free slot where it belongs. */
    private int slotOf(byte[] text, int start, int end) {
        int mask = slots.length - 1;
        int hash = 0;
        for (int i = start; i < end; i++) {
            hash = 31 * hash + text[i];
        }
        hash *= 0x9E3779B9;
        for (int slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
            int id = slots[slot];
            if (id == NONE || Arrays.equals(bytes, offsets[id], offsets[id + 1], text, start, end)) {
                return slot;
            }
        }
    }
}
