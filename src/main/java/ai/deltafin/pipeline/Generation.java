package ai.deltafin.pipeline;

import ai.deltafin.engine.CancelledException;
import ai.deltafin.engine.PassObserver;
import ai.deltafin.engine.Rows;
import ai.deltafin.engine.sampling.Constraint;
import ai.deltafin.engine.sampling.Sampler;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One request on the decode thread, from its prompt to its end. Prefill and decode are the same thing here: ids that are
 * pending are fed, and when none is left the logits choose the next. One {@link #step} is one forward pass.
 */
final class Generation implements AutoCloseable {

    private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final TokenizedRequest tokenized;
    private final GenerateRequest request;
    private final DecodeModel model;
    private final DecodeModel.Sequence sequence;
    private final AnswerReader answer;
    private final Tap tap;
    private final BooleanSupplier closing;
    private final EncodedPrompt prompt;
    private final int promptTokens;
    private final int cachedTokens;
    private final Sampler sampler;
    private final long beganNanos;
    private final DecodeModel.Counters before;

    /** Prompt and generated ids; the sequence has computed the first {@code sequence.length()} of them. */
    private int[] tape;

    private int length;
    private Constraint constraint;
    private int passes;
    private long firstTokenNanos;
    private DecodeModel.@Nullable Counters prefilled;
    private long lastTokenNanos;
    private long progressNanos = System.nanoTime();
    private @Nullable String logitsSha256;

    /**
     * Takes the request up.
     *
     * @param tap told of routes and tokens while anyone listens
     * @param closing whether the process is closing, which cancels like the request's own flag
     */
    Generation(TokenizedRequest tokenized, DecodeModel model, Tap tap, BooleanSupplier closing) {
        this.tokenized = tokenized;
        this.request = tokenized.request();
        this.model = model;
        this.answer = tokenized.answer();
        this.tap = tap;
        this.closing = closing;
        this.prompt = tokenized.prompt();
        this.promptTokens = prompt.ids().length;
        this.tape = Arrays.copyOf(prompt.ids(), promptTokens + Math.min(request.maxNewTokens(), 256));
        this.length = promptTokens;
        this.constraint = tokenized.constraint();
        this.beganNanos = System.nanoTime();
        this.before = model.counters();
        this.sampler = new Sampler(request.sampling());
        this.sequence = model.begin(prompt.ids());
        this.cachedTokens = sequence.length();
        this.lastTokenNanos = beganNanos;
        emit(new GenerationEvent.Started(promptTokens, cachedTokens));
        tapRequest("started");
    }

    /**
     * Runs one pass.
     *
     * @return the request's ending; null while it goes on. It is for the caller to send, once the session is given back.
     */
    @Nullable
    GenerationEvent step() {
        if (cancelled()) {
            return finish(FinishReason.CANCELLED);
        }
        int from = sequence.length();
        int until = from < promptTokens ? prompt.nextBoundary(from) : length;
        int rows = Math.min(until - from, model.maxRows());
        boolean last = from + rows == length;
        Watch watch = new Watch(from, rows);
        MemorySegment logits;
        try {
            logits = sequence.feed(Arrays.copyOfRange(tape, from, from + rows), last ? Rows.LAST : Rows.NONE, watch);
            passes++;
        } catch (CancelledException _) {
            return finish(FinishReason.CANCELLED);
        }
        watch.routes.forEach(tap::publish);
        if (length == promptTokens) {
            prefilled(from + rows);
        }
        return last ? choose(logits) : null;
    }

    private void prefilled(int done) {
        emit(progress(done));
        if (prompt.isBoundary(done)) {
            sequence.boundary();
        }
    }

    private @Nullable GenerationEvent choose(MemorySegment logits) {
        if (length == promptTokens) {
            firstTokenNanos = System.nanoTime();
            prefilled = model.counters();
            if (request.options().hashLogits()) {
                logitsSha256 = LogitsHash.of(logits);
            }
        }
        int vocabulary = (int) (logits.byteSize() / Float.BYTES);
        int id = sampler.choose(logits, vocabulary, tape, promptTokens, length, constraint);
        constraint = constraint.step(id);
        int top = request.options().topLogprobs();
        List<Logprob> logprobs = top < 0 ? List.of() : List.of(Logprob.of(sampler.logprobs(id, top)));
        append(id);
        tapToken(id);
        AnswerReader.Piece piece = answer.push(id);
        emit(new GenerationEvent.Tokens(new int[] {id}, piece.parsed(), piece.text(), logprobs));
        FinishReason ended = answer.ended();
        if (ended != null) {
            return finish(ended);
        }
        boolean bound = length - promptTokens == request.maxNewTokens() || length > model.contextLength();
        return bound ? finish(FinishReason.LENGTH) : null;
    }

    private void tapToken(int id) {
        if (tap.open()) {
            long now = System.nanoTime();
            tap.publish(new TapEvent.Token(request.id(), length - 1, id, now - lastTokenNanos));
            lastTokenNanos = now;
        }
    }

    private void tapRequest(String state) {
        if (tap.open()) {
            tap.publish(new TapEvent.Request(request.id(), state, promptTokens, length - promptTokens));
        }
    }

    private void append(int id) {
        if (length == tape.length) {
            tape = Arrays.copyOf(tape, Math.min(2 * length, promptTokens + request.maxNewTokens()));
        }
        tape[length++] = id;
    }

    private boolean cancelled() {
        return request.cancel().cancelled() || closing.getAsBoolean();
    }

    /** What is answered. */
    TokenizedRequest request() {
        return tokenized;
    }

    /** Whether the receiver asks for a pause. */
    boolean full() {
        return tokenized.outbox().full();
    }

    private GenerationEvent finish(FinishReason reason) {
        if (answer.ended() == null) {
            AnswerReader.Piece rest = answer.cut();
            if (!rest.parsed().isEmpty() || !rest.text().isEmpty()) {
                emit(new GenerationEvent.Tokens(new int[0], rest.parsed(), rest.text(), List.of()));
            }
        }
        Usage usage = new Usage(promptTokens, cachedTokens, length - promptTokens, answer.reasoningTokens());
        return new GenerationEvent.Finished(reason, usage, stats(), answer.stopString());
    }

    private GenerationStats stats() {
        long now = System.nanoTime();
        DecodeModel.Counters end = model.counters();
        DecodeModel.Counters middle = prefilled == null ? end : prefilled;
        long first = firstTokenNanos == 0 ? now : firstTokenNanos;
        return new GenerationStats(
                beganNanos - tokenized.arrivedNanos(),
                tokenized.tokenizeNanos(),
                GenerationStats.Phase.between(first - beganNanos, before, middle),
                GenerationStats.Phase.between(now - first, middle, end),
                passes,
                end.expertBytes() - before.expertBytes(),
                end.expertWaitNanos() - before.expertWaitNanos(),
                logitsSha256);
    }

    private GenerationEvent progress(int done) {
        progressNanos = System.nanoTime();
        return new GenerationEvent.PrefillProgress(
                done, promptTokens, model.counters().expertBytes() - before.expertBytes());
    }

    private void emit(GenerationEvent event) {
        tokenized.outbox().add(event);
    }

    /** Gives the session back, which stands at the last committed row. */
    @Override
    public void close() {
        tapRequest("ended");
        sequence.close();
    }

    /** Looks at the stop flag before every layer, and tells a slow prefill's progress. */
    private final class Watch implements PassObserver {
        private final int from;
        private final int rows;

        /** One event a layer while anyone listens, published together after the pass. */
        private final List<TapEvent> routes = new ArrayList<>();

        Watch(int from, int rows) {
            this.from = from;
            this.rows = rows;
        }

        @Override
        public boolean cancelled() {
            return Generation.this.cancelled();
        }

        @Override
        public void routes(int layer, int count, int k, int[] ids, float[] weights) {
            if (tap.open()) {
                int used = count * k;
                routes.add(new TapEvent.Route(
                        request.id(), from, layer, Arrays.copyOf(ids, used), Arrays.copyOf(weights, used), k));
            }
        }

        @Override
        public void layerDone(int done, int layers) {
            if (from < promptTokens && System.nanoTime() - progressNanos > PROGRESS_NANOS) {
                emit(progress(from + (int) ((long) rows * done / layers)));
            }
        }
    }
}
