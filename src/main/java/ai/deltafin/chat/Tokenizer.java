package ai.deltafin.chat;

import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * The checkpoint's tokenizer: text to ids exactly as the released one, and ids back to bytes. Immutable, for any number
 * of threads. A megabyte takes tenths of a second: never call it on an event loop.
 */
public final class Tokenizer {

    /** For callers that cannot be cancelled. */
    public static final BooleanSupplier NEVER = () -> false;

    private final RankTable ranks;
    private final ControlTokens controls;
    private final OrdinaryEncoder encoder;

    private Tokenizer(RankTable ranks, ControlTokens controls) {
        this.ranks = ranks;
        this.controls = controls;
        encoder = new OrdinaryEncoder(ranks);
    }

    /**
     * Opens the tokenizer of a model directory; {@code tiktoken.model} and {@code tokenizer_config.json} are enough.
     *
     * @throws TokenizerException if a file is missing, too large or malformed, naming it
     */
    public static Tokenizer open(Path directory) {
        RankTable ranks = RankTable.read(directory.resolve("tiktoken.model"));
        return new Tokenizer(ranks, ControlTokens.read(directory.resolve("tokenizer_config.json"), ranks.size()));
    }

    /** Number of ids: ranks and control tokens. A checkpoint may have more logit rows; those ids have no text. */
    public int size() {
        return ranks.size() + ControlTokens.COUNT;
    }

    /** The control tokens. */
    public ControlTokens controls() {
        return controls;
    }

    /** The ids of ordinary text: nothing in it becomes a control token, whatever it spells. */
    public int[] encode(String text) {
        return encode(text, NEVER);
    }

    /**
     * As {@link #encode(String)}, looking at {@code cancelled} between pieces.
     *
     * @throws CancellationException once {@code cancelled} says so
     */
    public int[] encode(String text, BooleanSupplier cancelled) {
        IntArrayList ids = new IntArrayList();
        ordinary(text, ids, cancelled);
        return ids.toArray();
    }

    /**
     * The ids of raw text in which the spellings of control tokens count. Never for text of a user.
     *
     * @throws CancellationException once {@code cancelled} says so
     */
    public int[] encodeWithControls(String text, BooleanSupplier cancelled) {
        IntArrayList ids = new IntArrayList();
        withControls(text, ids, cancelled);
        return ids.toArray();
    }

    /**
     * The ids of a rendered chat: each segment encoded by itself, control tokens only where the renderer put them.
     *
     * @throws CancellationException once {@code cancelled} says so
     */
    public int[] encode(List<Segment> segments, BooleanSupplier cancelled) {
        IntArrayList ids = new IntArrayList();
        for (Segment segment : segments) {
            switch (segment) {
                case Segment.Control control -> ids.add(control.marker().id(controls));
                case Segment.Text text -> ordinary(text.text(), ids, cancelled);
                case Segment.Raw raw -> withControls(raw.text(), ids, cancelled);
                case Segment.Replay replay -> {
                    for (int id : replay.ids()) {
                        ids.add(id);
                    }
                }
            }
        }
        return ids.toArray();
    }

    private void ordinary(String text, IntArrayList ids, BooleanSupplier cancelled) {
        for (String piece : PreCuts.of(PythonText.repairSurrogates(text))) {
            encoder.encode(piece, ids, cancelled);
        }
    }

    private void withControls(String text, IntArrayList ids, BooleanSupplier cancelled) {
        for (String piece : PreCuts.of(PythonText.repairSurrogates(text))) {
            int start = 0;
            for (int i = 0; i < piece.length(); i++) {
                int control = controls.startingAt(piece, i);
                if (control >= 0) {
                    encoder.encode(piece.substring(start, i), ids, cancelled);
                    ids.add(control);
                    start = i + controls.spelling(control).length();
                    i = start - 1;
                }
            }
            encoder.encode(piece.substring(start), ids, cancelled);
        }
    }

    /**
     * The bytes of an id; for a control token its spelling.
     *
     * @throws IllegalArgumentException if the id has no token
     */
    public byte[] bytes(int id) {
        if (controls.contains(id)) {
            return controls.spelling(id).getBytes(StandardCharsets.UTF_8);
        }
        if (id < 0 || id >= size()) {
            throw new IllegalArgumentException("token id " + id + " is not in the vocabulary, 0.." + (size() - 1));
        }
        return ranks.bytes(id);
    }

    /**
     * The text of ids, control tokens spelled; bytes that are no UTF-8 become U+FFFD.
     *
     * @throws IllegalArgumentException if an id has no token
     */
    public String decode(int... ids) {
        StreamDecoder decoder = new StreamDecoder(this, StreamDecoder.Controls.SPELLED);
        StringBuilder text = new StringBuilder();
        for (int id : ids) {
            text.append(decoder.push(id));
        }
        return text.append(decoder.finish()).toString();
    }

    static void stopIf(BooleanSupplier cancelled) {
        if (cancelled.getAsBoolean()) {
            throw new CancellationException("tokenization cancelled");
        }
    }
}
