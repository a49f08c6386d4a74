package ai.deltafin.pipeline;

import ai.deltafin.chat.Answer;
import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.chat.AnswerParser;
import ai.deltafin.chat.ChatException;
import ai.deltafin.chat.ChatRenderer;
import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.Rendered;
import ai.deltafin.chat.ReplayMemory;
import ai.deltafin.chat.Segment;
import ai.deltafin.chat.StopMatcher;
import ai.deltafin.chat.StreamDecoder;
import ai.deltafin.chat.Tokenizer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The text of a model: its tokenizer and its chat format. */
public final class ModelText implements TextCodec {

    private final Tokenizer tokenizer;
    private final ReplayMemory replay;

    /**
     * A codec over a tokenizer.
     *
     * @param replay puts answers back into a history with the ids the model generated, so that kept state fits them
     */
    public ModelText(Tokenizer tokenizer, ReplayMemory replay) {
        this.tokenizer = tokenizer;
        this.replay = replay;
    }

    /** The tokenizer. */
    public Tokenizer tokenizer() {
        return tokenizer;
    }

    @Override
    public EncodedPrompt encode(Prompt prompt, CancelToken cancel) {
        try {
            return switch (prompt) {
                case Prompt.Text text
                when text.specials() -> EncodedPrompt.of(tokenizer.encodeWithControls(text.text(), cancel::cancelled));
                case Prompt.Text text -> EncodedPrompt.of(tokenizer.encode(text.text(), cancel::cancelled));
                case Prompt.Chat chat -> encode(chat.chat(), cancel);
                case Prompt.Ids ids -> EncodedPrompt.of(ids.ids());
            };
        } catch (ChatException e) {
            throw new RequestException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Each segment is encoded by itself, so the history's ids are those of a chat that goes on otherwise. */
    private EncodedPrompt encode(ChatRequest chat, CancelToken cancel) {
        chat.requireTextOnly();
        Rendered rendered = ChatRenderer.render(chat, replay);
        List<Segment> segments = rendered.segments();
        int history = rendered.historySegments();
        int[] before = tokenizer.encode(segments.subList(0, history), cancel::cancelled);
        int[] after = tokenizer.encode(segments.subList(history, segments.size()), cancel::cancelled);
        int[] ids = Arrays.copyOf(before, before.length + after.length);
        System.arraycopy(after, 0, ids, before.length, after.length);
        boolean parts = before.length > 0 && after.length > 0;
        return new EncodedPrompt(ids, parts ? new int[] {before.length} : new int[0]);
    }

    @Override
    public AnswerReader reader(GenerateRequest request) {
        try {
            return request.prompt() instanceof Prompt.Chat chat
                    ? new ChatReader(chat.chat(), request.stops())
                    : new TextReader(request.stops(), request.options().ignoreEnd());
        } catch (ChatException e) {
            throw new RequestException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Reads a chat's answer. */
    private final class ChatReader implements AnswerReader {
        private final boolean thinking;
        private final AnswerParser parser;
        private final Answer.Assembler answer = new Answer.Assembler();
        private int[] ids = new int[64];
        private int length;
        private boolean endedByModel;

        ChatReader(ChatRequest chat, List<String> stops) {
            thinking = chat.thinking().on();
            parser = new AnswerParser(tokenizer, AnswerParser.Options.of(chat, stops));
        }

        @Override
        public Piece push(int id) {
            if (length == ids.length) {
                ids = Arrays.copyOf(ids, 2 * length);
            }
            ids[length++] = id;
            List<AnswerEvent> parsed = parser.push(id);
            answer.accept(parsed);
            endedByModel = parser.finished() && parser.stopString() == null;
            if (endedByModel) {
                replay.remember(answer.answer().asMessage(), thinking, Arrays.copyOf(ids, length));
            }
            return new Piece(parsed, "");
        }

        @Override
        public @Nullable FinishReason ended() {
            if (!parser.finished()) {
                return null;
            }
            return endedByModel ? FinishReason.END : FinishReason.STOP;
        }

        @Override
        public Piece cut() {
            return new Piece(parser.finish(AnswerParser.End.LIMIT), "");
        }
    }

    /** Reads a raw continuation. */
    private final class TextReader implements AnswerReader {
        private final StreamDecoder decoder = new StreamDecoder(tokenizer, StreamDecoder.Controls.HIDDEN);
        private final StopMatcher stops;
        private final boolean ignoreEnd;
        private @Nullable FinishReason ended;

        TextReader(List<String> stops, boolean ignoreEnd) {
            this.stops = new StopMatcher(stops);
            this.ignoreEnd = ignoreEnd;
        }

        @Override
        public Piece push(int id) {
            if (tokenizer.controls().isStop(id) && !ignoreEnd) {
                ended = FinishReason.END;
                return cut();
            }
            String text = stops.push(decoder.push(id));
            if (stops.matched() != null) {
                ended = FinishReason.STOP;
            }
            return new Piece(List.of(), text);
        }

        @Override
        public @Nullable FinishReason ended() {
            return ended;
        }

        @Override
        public Piece cut() {
            return new Piece(List.of(), stops.push(decoder.finish()) + stops.finish());
        }
    }
}
