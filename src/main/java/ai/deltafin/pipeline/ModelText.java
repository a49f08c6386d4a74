package ai.deltafin.pipeline;

import ai.deltafin.chat.Answer;
import ai.deltafin.chat.AnswerEvent;
import ai.deltafin.chat.AnswerParser;
import ai.deltafin.chat.ChatException;
import ai.deltafin.chat.ChatRenderer;
import ai.deltafin.chat.ChatRequest;
import ai.deltafin.chat.Message;
import ai.deltafin.chat.Rendered;
import ai.deltafin.chat.ReplayMemory;
import ai.deltafin.chat.ResponseFormat;
import ai.deltafin.chat.Segment;
import ai.deltafin.chat.StopMatcher;
import ai.deltafin.chat.StreamDecoder;
import ai.deltafin.chat.Tokenizer;
import ai.deltafin.chat.ToolChoice;
import ai.deltafin.engine.sampling.Constraint;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The text of a model: its tokenizer and its chat format. */
public final class ModelText implements TextCodec {

    private static final int KEEP_EVERY = 2048;

    private final Tokenizer tokenizer;
    private final ReplayMemory replay;
    private final AnswerShapes shapes;

    /**
     * A codec over a tokenizer.
     *
     * @param replay puts answers back into a history with the ids the model generated, so that kept state fits them
     */
    public ModelText(Tokenizer tokenizer, ReplayMemory replay) {
        this.tokenizer = tokenizer;
        this.replay = replay;
        shapes = new AnswerShapes(tokenizer);
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
                when text.specials() -> raw(tokenizer.encodeWithControls(text.text(), cancel::cancelled));
                case Prompt.Text text -> raw(tokenizer.encode(text.text(), cancel::cancelled));
                case Prompt.Chat chat -> encode(chat.chat(), cancel);
                case Prompt.Ids ids -> raw(ids.ids());
            };
        } catch (ChatException e) {
            throw refusal(e);
        }
    }

    private static EncodedPrompt raw(int[] ids) {
        return new EncodedPrompt(ids, boundaries(0, 0, ids.length));
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
        int head = tokenizer.encode(segments.subList(0, headSegments(chat, history)), cancel::cancelled).length;
        return new EncodedPrompt(ids, boundaries(head, before.length, ids.length));
    }

    /** Segments of tools, effort and the system messages in front: what other conversations may share. */
    private static int headSegments(ChatRequest chat, int history) {
        List<Message> system = chat.messages().stream()
                .takeWhile(m -> m instanceof Message.System)
                .toList();
        ChatRequest head = new ChatRequest(
                system, chat.tools(), chat.thinking(), ToolChoice.AUTO, new ResponseFormat.Text(), List.of(), false);
        return Math.min(history, ChatRenderer.render(head).segments().size());
    }

    /** The given boundaries, and one every {@value #KEEP_EVERY} ids: a long prefill that is cut off is not lost. */
    private static int[] boundaries(int head, int history, int length) {
        return IntStream.concat(
                        IntStream.of(head, history),
                        IntStream.iterate(KEEP_EVERY, i -> i < length, i -> i + KEEP_EVERY))
                .filter(boundary -> boundary > 0 && boundary < length)
                .sorted()
                .distinct()
                .toArray();
    }

    @Override
    public AnswerReader reader(GenerateRequest request) {
        try {
            return request.prompt() instanceof Prompt.Chat chat
                    ? new ChatReader(chat.chat(), request.stops())
                    : new TextReader(request.stops(), request.options().ignoreEnd());
        } catch (ChatException e) {
            throw refusal(e);
        }
    }

    private static RequestException refusal(ChatException e) {
        String message = String.valueOf(e.getMessage());
        String prefix = e.field() + ": ";
        return new RequestException(
                e.field(), message.startsWith(prefix) ? message.substring(prefix.length()) : message, e);
    }

    @Override
    public Constraint constraint(GenerateRequest request) {
        if (!(request.prompt() instanceof Prompt.Chat chat)) {
            return Constraint.NONE;
        }
        return shapes.constraint(chat.chat(), request.options().calls());
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
        public @Nullable String stopString() {
            return parser.stopString();
        }

        @Override
        public int reasoningTokens() {
            return parser.reasoningTokens();
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
        public @Nullable String stopString() {
            return stops.matched();
        }

        @Override
        public int reasoningTokens() {
            return 0;
        }

        @Override
        public Piece cut() {
            return new Piece(List.of(), stops.push(decoder.finish()) + stops.finish());
        }
    }
}
