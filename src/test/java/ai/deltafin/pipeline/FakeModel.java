package ai.deltafin.pipeline;

import ai.deltafin.engine.CancelledException;
import ai.deltafin.engine.PassObserver;
import ai.deltafin.engine.Rows;
import ai.deltafin.engine.sampling.Constraint;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A model of four layers whose next id is a function of the last one. It notes which thread calls it and which chunks it
 * is fed, and does what a test tells it to before each layer.
 */
final class FakeModel implements DecodeModel {

    static final int VOCABULARY = 512;
    static final int LAYERS = 4;

    private final int maxRows;
    private final IntUnaryOperator next;
    final List<List<Integer>> fed = new ArrayList<>();
    final List<Integer> boundaries = new ArrayList<>();
    final List<String> threads = new ArrayList<>();
    volatile Runnable beforeLayer = () -> {};
    volatile @Nullable RuntimeException failure;
    volatile int open;
    volatile boolean closed;

    FakeModel(int maxRows, IntUnaryOperator next) {
        this.maxRows = maxRows;
        this.next = next;
    }

    @Override
    public int maxRows() {
        return maxRows;
    }

    @Override
    public int contextLength() {
        return 1000;
    }

    @Override
    public Sequence begin(int[] prompt) {
        open++;
        return new FakeSequence();
    }

    @Override
    public Counters counters() {
        return new Counters(0, 0, 0, Map.of());
    }

    @Override
    public void close() {
        closed = true;
    }

    private final class FakeSequence implements Sequence {
        private int length;

        @Override
        public int length() {
            return length;
        }

        @Override
        public MemorySegment feed(int[] ids, Rows wanted, PassObserver observer) {
            threads.add(Thread.currentThread().getName());
            for (int layer = 0; layer < LAYERS; layer++) {
                beforeLayer.run();
                if (observer.cancelled()) {
                    throw new CancelledException(layer);
                }
                observer.routes(layer, ids.length, 2, new int[2 * ids.length], new float[2 * ids.length]);
                observer.layerDone(layer + 1, LAYERS);
            }
            RuntimeException wrong = failure;
            if (wrong != null) {
                failure = null;
                throw wrong;
            }
            length += ids.length;
            fed.add(java.util.Arrays.stream(ids).boxed().toList());
            if (wanted == Rows.NONE) {
                return MemorySegment.NULL;
            }
            float[] logits = new float[VOCABULARY];
            logits[next.applyAsInt(ids[ids.length - 1])] = 1;
            return MemorySegment.ofArray(logits);
        }

        @Override
        public void boundary() {
            boundaries.add(length);
        }

        @Override
        public void close() {
            open--;
        }
    }

    /** Ids are code points; id 0 ends the answer; stop strings work as in the real codec. */
    static final class FakeText implements TextCodec {
        @Override
        public EncodedPrompt encode(Prompt prompt, CancelToken cancel) {
            return switch (prompt) {
                case Prompt.Text text when text.text().equals("refuse") -> throw new RequestException(null, "refused");
                case Prompt.Text text -> EncodedPrompt.of(text.text().chars().toArray());
                case Prompt.Ids ids -> new EncodedPrompt(ids.ids(), new int[] {ids.ids().length - 1});
                case Prompt.Chat _ -> throw new IllegalStateException("no chats here");
            };
        }

        @Override
        public AnswerReader reader(GenerateRequest request) {
            var stops = new ai.deltafin.chat.StopMatcher(request.stops());
            return new AnswerReader() {
                private @Nullable FinishReason ended;

                @Override
                public Piece push(int id) {
                    if (id == 0) {
                        ended = FinishReason.END;
                        return cut();
                    }
                    String text = stops.push(Character.toString(id));
                    ended = stops.matched() == null ? null : FinishReason.STOP;
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
                    return new Piece(List.of(), stops.finish());
                }
            };
        }

        @Override
        public Constraint constraint(GenerateRequest request) {
            return Constraint.NONE;
        }
    }
}
