package ai.deltafin.pipeline;

import ai.deltafin.config.PipelineConfig;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The verticles and the door to them. A command and a server request take the same way: through a tokenizer verticle on
 * the event bus to the decode verticle, and back as events on the caller's own context.
 */
public final class Pipeline implements AutoCloseable {

    private static final Logger LOG = System.getLogger(Pipeline.class.getName());
    private static final int TOKENIZERS = 4;
    private static final long CLOSE_SECONDS = 60;

    /** Every record that travels on the event bus. */
    static final List<Class<?>> MESSAGES = List.of(
            Arrival.class,
            TokenizedRequest.class,
            TapEvent.Route.class,
            TapEvent.Read.class,
            TapEvent.Token.class,
            TapEvent.Request.class);

    private final Vertx vertx;
    private final Context context;
    private final Transports.Choice transport;
    private final int places;
    private final Tap tap;
    private final DecodeVerticle decode;
    private final Future<?> ready;
    private final AtomicLong lastId = new AtomicLong();
    private final Map<Long, Arrival> underWay = new ConcurrentHashMap<>();

    private Pipeline(PipelineConfig config, Supplier<DecodeModel> model, TextCodec text) {
        transport = Transports.choose(config);
        LOG.log(
                Level.INFO,
                () -> "transport " + transport.name()
                        + (transport.reason().isEmpty() ? "" : " (" + transport.reason() + ")"));
        vertx = Vertx.builder()
                .with(new VertxOptions().setEventLoopPoolSize(config.eventLoops()))
                .withTransport(transport.transport())
                .build();
        MESSAGES.forEach(this::register);
        context = vertx.getOrCreateContext();
        places = config.queue() + 1;
        tap = new Tap(vertx);
        decode = new DecodeVerticle(() -> new DecodeLoop(model.get(), tap, this::ended));
        ready = deploy(text);
    }

    /**
     * Builds the event bus and begins to deploy its verticles; {@link #ready} tells when they listen.
     *
     * @param model opens the model; called on the decode thread, which owns it from then on
     * @param text the model's tokenizer and chat format
     */
    public static Pipeline start(PipelineConfig config, Supplier<DecodeModel> model, TextCodec text) {
        return new Pipeline(config, model, text);
    }

    private <T> void register(Class<T> message) {
        vertx.eventBus().registerDefaultCodec(message, new ReferenceCodec<>(message.getName()));
    }

    private Future<?> deploy(TextCodec text) {
        var tokenizers = new DeploymentOptions()
                .setThreadingModel(ThreadingModel.VIRTUAL_THREAD)
                .setInstances(TOKENIZERS);
        // A prefill pass of the real model takes minutes: no reason for the blocked-thread checker to complain.
        var worker = new DeploymentOptions()
                .setThreadingModel(ThreadingModel.WORKER)
                .setWorkerPoolName("decode")
                .setWorkerPoolSize(1)
                .setMaxWorkerExecuteTime(1)
                .setMaxWorkerExecuteTimeUnit(TimeUnit.DAYS);
        return Future.all(
                vertx.deployVerticle(() -> new TokenizerVerticle(text, this::ended), tokenizers),
                vertx.deployVerticle(decode, worker));
    }

    /** Completes when the model is open and requests are served; fails with what kept it from opening. */
    public Future<?> ready() {
        return ready;
    }

    /** Waits for {@link #ready}; what kept the model from opening is thrown as it is. */
    public Pipeline awaitReady() {
        ready.await();
        return this;
    }

    /** A new id for a request. */
    public long nextId() {
        return lastId.incrementAndGet();
    }

    /**
     * Sends a request on its way. Its events come on the Vert.x context of the caller; a caller without one gets the
     * pipeline's own.
     *
     * @throws QueueFullException if no place is left
     */
    public void generate(GenerateRequest request) {
        Context caller = Vertx.currentContext();
        Outbox outbox = new Outbox(caller == null ? context : caller, request.sink());
        Arrival arrival = new Arrival(request, outbox, System.nanoTime());
        int before;
        synchronized (underWay) {
            before = underWay.size();
            if (before >= places) {
                throw new QueueFullException(before - 1);
            }
            underWay.put(request.id(), arrival);
        }
        if (before > 0) {
            // The decode thread may be deep in a long pass: the first word on the position does not wait for it.
            outbox.add(new GenerationEvent.Queued(before));
        }
        vertx.eventBus().send(Addresses.TOKENIZE, arrival);
    }

    private void ended(GenerateRequest request) {
        underWay.remove(request.id());
    }

    /** Cancels a request by its id; one that has ended is left alone. */
    public void cancel(long id) {
        Arrival arrival = underWay.get(id);
        if (arrival != null) {
            arrival.request().cancel().cancel();
        }
    }

    /** What the pipeline is doing now. */
    public PipelineStatus status() {
        return new PipelineStatus(transport.name(), ready.succeeded(), underWay.size(), places);
    }

    /** The window on the engine at work. */
    public Tap tap() {
        return tap;
    }

    /** The event bus and its loops, for verticles that serve this pipeline. */
    public Vertx vertx() {
        return vertx;
    }

    /** Stops what runs at its next layer, refuses what waits, closes the model, then the event bus. */
    @Override
    public void close() {
        decode.shutDown();
        underWay.values().forEach(arrival -> arrival.request().cancel().cancel());
        try {
            List<Future<Void>> undeployed =
                    vertx.deploymentIDs().stream().map(vertx::undeploy).toList();
            Future.join(undeployed).await(CLOSE_SECONDS, TimeUnit.SECONDS);
            refuseTheRest();
            vertx.close().await(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException _) {
            LOG.log(Level.ERROR, "the decode thread did not stop within " + CLOSE_SECONDS + " s");
        }
    }

    /** Requests whose messages no verticle took before it was gone: they too get their one ending. */
    private void refuseTheRest() {
        underWay.values().forEach(arrival -> {
            ended(arrival.request());
            arrival.outbox().add(new GenerationEvent.Failed(ErrorKind.SHUTDOWN, "the process is closing"));
        });
    }
}
