package ai.deltafin.chat;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * The exact ids of answers the model gave, by what they say. A client may send a tool call back with other spaces, key
 * order or number forms; the prompt then still continues with the generated ids, and the state behind them fits. Bounded
 * in bytes, least valuable out first. For any number of threads.
 */
public final class ReplayMemory implements Replay {

    /** What an entry costs besides its ids. */
    private static final int ENTRY_BYTES = 200;

    private final Tokenizer tokenizer;
    private final Cache<String, int[]> answers;

    /** An empty memory of at most {@code maxBytes}. */
    public ReplayMemory(Tokenizer tokenizer, long maxBytes) {
        this.tokenizer = tokenizer;
        answers = Caffeine.newBuilder()
                .maximumWeight(maxBytes)
                .weigher((String key, int[] ids) -> ENTRY_BYTES + 4 * ids.length)
                .executor(Runnable::run)
                .build();
    }

    /**
     * Remembers the ids of an answer, from behind the opened channel up to and with the end of the message. An answer
     * that did not end so is not remembered: what follows it in a history is not what the model wrote.
     *
     * @param thinking whether the prompt had opened the think channel (else the response channel)
     */
    public void remember(Message.Assistant answer, boolean thinking, int[] ids) {
        if (ids.length > 0 && ids[ids.length - 1] == tokenizer.controls().endOfMessage()) {
            answers.put(key(answer, thinking), ids.clone());
        }
    }

    @Override
    public Segment.@Nullable Replay find(Message.Assistant answer, boolean thinking) {
        int[] ids = answers.getIfPresent(key(answer, thinking));
        return ids == null ? null : new Segment.Replay(ids, tokenizer.decode(ids));
    }

    /** A digest of what the answer says, equal for every form that a JSON parser reads alike. */
    private static String key(Message.Assistant answer, boolean thinking) {
        StringBuilder said = new StringBuilder(thinking ? "thinking" : "direct");
        String reasoning = thinking && !PythonText.isBlank(answer.reasoning()) ? answer.reasoning() : "";
        append(said, reasoning);
        StringBuilder content = new StringBuilder();
        for (ContentPart part : answer.content()) {
            content.append(part instanceof ContentPart.Text text ? text.text() : "\0image");
        }
        append(said, content.toString());
        for (ToolCall call : answer.calls()) {
            append(said, call.name());
            append(said, canonical(call.arguments()));
        }
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(said.toString().getBytes(StandardCharsets.UTF_16LE));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    private static void append(StringBuilder said, String text) {
        said.append('\n').append(text.length()).append(':').append(text);
    }

    private static String canonical(ToolCall.Arguments arguments) {
        return switch (arguments) {
            case ToolCall.Arguments.Parsed parsed -> CanonicalJson.of(parsed.object());
            case ToolCall.Arguments.Text text -> {
                if (PythonText.isBlank(text.json())) {
                    yield "{}";
                }
                try {
                    JsonNode parsed = PythonJson.READER.readTree(text.json());
                    yield CanonicalJson.of(parsed);
                } catch (JacksonException e) {
                    yield "raw " + text.json();
                }
            }
        };
    }
}
