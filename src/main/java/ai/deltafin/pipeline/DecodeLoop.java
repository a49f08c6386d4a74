package ai.deltafin.pipeline;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The decode thread's work, one bounded {@link #step} at a time: a pass of the running request, or taking up the next
 * one. It knows no event bus, so that a test can step it by hand. One thread uses it.
 */
final class DecodeLoop implements AutoCloseable {

    /** How long a client may refuse its events before its request fails. */
    static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);

    /** What the caller should do after a step. */
    enum Next {
        /** Call again at once. */
        AGAIN,
        /** Call again a little later: the receiver is full. */
        LATER,
        /** Nothing to do until a request is added. */
        IDLE
    }

    private static final Logger LOG = System.getLogger(DecodeLoop.class.getName());

    private final DecodeModel model;
    private final Tap tap;
    private final Consumer<GenerateRequest> ended;
    private final FairQueue<TokenizedRequest> waiting = new FairQueue<>();
    private volatile boolean closing;
    private @Nullable Generation generation;
    private long fullSince;

    /**
     * A loop over a model.
     *
     * @param tap told of routes, tokens and requests while anyone listens
     * @param ended called once for each request that has ended, however it did
     */
    DecodeLoop(DecodeModel model, Tap tap, Consumer<GenerateRequest> ended) {
        this.model = model;
        this.tap = tap;
        this.ended = ended;
    }

    /** Queues a request. */
    void add(TokenizedRequest request) {
        waiting.add(request.request().options().client(), request);
        tellPositions();
    }

    private void tellPositions() {
        int position = generation == null ? 0 : 1;
        for (TokenizedRequest request : waiting.inTurn()) {
            if (position > 0) {
                request.outbox().add(new GenerationEvent.Queued(position));
            }
            position++;
        }
    }

    /** Runs one pass, or takes up the next request, or finds nothing to do. */
    Next step() {
        dropCancelled();
        if (generation == null) {
            return begin() ? Next.AGAIN : Next.IDLE;
        }
        if (generation.full()) {
            return park(generation);
        }
        fullSince = 0;
        try {
            GenerationEvent ending = generation.step();
            if (ending != null) {
                end(generation, ending);
            }
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "request failed in the engine", e);
            end(generation, new GenerationEvent.Failed(ErrorKind.ENGINE, message(e)));
        }
        return Next.AGAIN;
    }

    private void dropCancelled() {
        waiting.removeIf(request -> {
            if (!closing && !request.request().cancel().cancelled()) {
                return false;
            }
            end(request, closing ? shutdown() : cancelledWhileQueued(request));
            return true;
        });
    }

    /** The place in the queue is free before the client hears of the end, so that its next request finds it. */
    private void end(TokenizedRequest request, GenerationEvent ending) {
        ended.accept(request.request());
        request.outbox().add(ending);
    }

    private static GenerationEvent shutdown() {
        return new GenerationEvent.Failed(ErrorKind.SHUTDOWN, "the process is closing");
    }

    private static GenerationEvent cancelledWhileQueued(TokenizedRequest request) {
        return GenerationEvent.Finished.beforeStart(
                request.prompt().ids().length, request.arrivedNanos(), request.tokenizeNanos());
    }

    private boolean begin() {
        TokenizedRequest next = waiting.poll();
        if (next == null) {
            return false;
        }
        try {
            String problem = problem(next);
            if (problem != null) {
                end(next, new GenerationEvent.Failed(ErrorKind.CONTEXT_LENGTH, problem));
            } else {
                generation = new Generation(next, model, tap, () -> closing);
                tellPositions();
            }
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "request failed before its first pass", e);
            end(next, new GenerationEvent.Failed(ErrorKind.ENGINE, message(e)));
        }
        return true;
    }

    private @Nullable String problem(TokenizedRequest next) {
        int prompt = next.prompt().ids().length;
        int limit = model.contextLength();
        if (prompt == 0) {
            return "the prompt has no tokens: the model needs at least one to go on from";
        }
        if (prompt >= limit) {
            return "the prompt has " + prompt + " tokens and the model's context holds " + limit
                    + ", one of which must be" + " new: shorten the prompt";
        }
        return null;
    }

    private Next park(Generation parked) {
        long now = System.nanoTime();
        if (fullSince == 0) {
            fullSince = now;
        } else if (now - fullSince > PATIENCE) {
            long seconds = TimeUnit.NANOSECONDS.toSeconds(PATIENCE);
            String message = "the client took no events for " + seconds + " s";
            end(parked, new GenerationEvent.Failed(ErrorKind.SLOW_CLIENT, message));
            return Next.AGAIN;
        }
        return Next.LATER;
    }

    private void end(Generation done, GenerationEvent ending) {
        generation = null;
        fullSince = 0;
        try {
            done.close();
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a session could not be kept", e);
        }
        end(done.request(), ending);
    }

    /** Requests that wait, the running one not counted. */
    int waiting() {
        return waiting.size();
    }

    /** Any thread: cancels the running pass at its next layer and refuses what waits. */
    void shutDown() {
        closing = true;
    }

    /** Ends what still runs or waits, then closes the model. */
    @Override
    public void close() {
        shutDown();
        while (step() != Next.IDLE) {
            // every step ends a request: the running one sees the flag, the waiting ones are refused
        }
        model.close();
    }

    private static String message(RuntimeException e) {
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }
}
