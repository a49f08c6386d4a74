package ai.deltafin.chat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The 256 control tokens behind the ranks: ids {@code base .. base+255}, where {@code base} is the number of ranks.
 * Names come from {@code tokenizer_config.json}; what it does not name is {@code <|reserved_token_ID|>}.
 */
public final class ControlTokens {

    /** Control ids of every vocabulary of this family. */
    public static final int COUNT = 256;

    private static final int MAX_CONFIG_BYTES = 1 << 20;

    /** Spellings the chat format stands on, at base + index. */
    private static final List<String> REQUIRED =
            List.of("[BOS]", "[EOS]", "<|end_of_msg|>", "<|open|>", "<|close|>", "<|sep|>");

    private static final int END_OF_TURN = 9;

    private final int base;
    private final String[] spellings;

    /** Spellings by their first character, for the search in text. */
    private final Map<Character, int[]> byFirst = new HashMap<>();

    private ControlTokens(int base, String[] spellings) {
        this.base = base;
        this.spellings = spellings;
        for (int i = 0; i < COUNT; i++) {
            byFirst.merge(spellings[i].charAt(0), new int[] {i}, ControlTokens::concat);
        }
    }

    private static int[] concat(int[] a, int[] b) {
        int[] joined = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, joined, a.length, b.length);
        return joined;
    }

    /** Reads {@code added_tokens_decoder} of a tokenizer_config.json for a vocabulary of {@code base} ranks. */
    static ControlTokens read(Path config, int base) {
        String[] spellings = new String[COUNT];
        for (int i = 0; i < COUNT; i++) {
            spellings[i] = "<|reserved_token_" + (base + i) + "|>";
        }
        JsonNode tokens;
        try {
            tokens = JsonMapper.shared()
                    .readTree(BoundedFile.read(config, MAX_CONFIG_BYTES))
                    .path("added_tokens_decoder");
        } catch (JacksonException e) {
            throw new TokenizerException(config + ": not valid JSON: " + e.getOriginalMessage(), e);
        }
        if (!tokens.isObject()) {
            throw new TokenizerException(
                    config + ": no object \"added_tokens_decoder\" with the control tokens' names");
        }
        for (Map.Entry<String, JsonNode> token : tokens.properties()) {
            spellings[index(config, token.getKey(), base)] = spelling(config, token.getKey(), token.getValue());
        }
        check(config, base, spellings);
        return new ControlTokens(base, spellings);
    }

    private static int index(Path config, String key, int base) {
        if (key.matches("[0-9]{1,9}")) {
            int index = Integer.parseInt(key) - base;
            if (index >= 0 && index < COUNT) {
                return index;
            }
        }
        throw new TokenizerException(config + ": control token id \"" + key + "\" is not one of " + base + ".."
                + (base + COUNT - 1) + "; do tiktoken.model and this file belong together?");
    }

    private static String spelling(Path config, String key, JsonNode token) {
        JsonNode content = token.path("content");
        if (!content.isString() || content.stringValue().isEmpty()) {
            throw new TokenizerException(config + ": control token " + key + " has no text in \"content\"");
        }
        return content.stringValue();
    }

    private static void check(Path config, int base, String[] spellings) {
        for (int i = 0; i < REQUIRED.size(); i++) {
            if (!spellings[i].equals(REQUIRED.get(i))) {
                throw new TokenizerException(config + ": control token " + (base + i) + " must be " + REQUIRED.get(i)
                        + ", found " + spellings[i]);
            }
        }
        String[] sorted = spellings.clone();
        Arrays.sort(sorted);
        for (int i = 1; i < COUNT; i++) {
            if (sorted[i].startsWith(sorted[i - 1])) {
                throw new TokenizerException(
                        config + ": control token " + sorted[i - 1] + " is a prefix of " + sorted[i]);
            }
        }
    }

    /** Number of ranks, which is the first control id. */
    public int base() {
        return base;
    }

    /** {@code [BOS]}; the chat format never writes it. */
    public int bos() {
        return base;
    }

    /** {@code [EOS]}, the end of a raw document. */
    public int eos() {
        return base + 1;
    }

    /** {@code <|end_of_msg|>}, the stop id of an answer. */
    public int endOfMessage() {
        return base + 2;
    }

    /** {@code <|open|>}. */
    public int open() {
        return base + 3;
    }

    /** {@code <|close|>}. */
    public int close() {
        return base + 4;
    }

    /** {@code <|sep|>}. */
    public int sep() {
        return base + 5;
    }

    /** Whether generation stops at this id: end of message, of document, or of turn. */
    public boolean isStop(int id) {
        return id == endOfMessage() || id == eos() || id == base + END_OF_TURN;
    }

    /** Whether the id is a control token of this vocabulary. */
    public boolean contains(int id) {
        return id >= base && id < base + COUNT;
    }

    /**
     * How the control token is written.
     *
     * @throws IllegalArgumentException if {@code id} is no control token
     */
    public String spelling(int id) {
        if (!contains(id)) {
            throw new IllegalArgumentException("token id " + id + " is no control token");
        }
        return spellings[id - base];
    }

    /** The id whose spelling begins at {@code text[at]}, or -1. At most one does: no spelling begins another. */
    int startingAt(String text, int at) {
        int[] candidates = byFirst.get(text.charAt(at));
        if (candidates != null) {
            for (int index : candidates) {
                if (text.startsWith(spellings[index], at)) {
                    return base + index;
                }
            }
        }
        return -1;
    }
}
