package ai.deltafin.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.config.ConfigException;
import ai.deltafin.config.PipelineConfig;
import ai.deltafin.engine.sampling.SamplingParams;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PipelineTest {

    /** Counts down: 'e' is followed by 'd', 'a' by the end. */
    private final FakeModel model = new FakeModel(3, id -> id <= 'a' ? 0 : id - 1);

    private Pipeline pipeline = start(new PipelineConfig("auto", 1, 8));

    private Pipeline start(PipelineConfig config) {
        return Pipeline.start(config, () -> model, new FakeModel.FakeText()).awaitReady();
    }

    @AfterEach
    void close() {
        pipeline.close();
        assertThat(model.closed).isTrue();
        assertThat(model.open).isZero();
    }

    /** A request's events as they come. */
    private static final class Sink implements GenerationSink {
        final LinkedBlockingQueue<GenerationEvent> events = new LinkedBlockingQueue<>();
        final List<String> threads = new CopyOnWriteArrayList<>();
        final AtomicBoolean full = new AtomicBoolean();
        final CancelToken cancel = new CancelToken();

        @Override
        public void accept(List<GenerationEvent> batch) {
            threads.add(Thread.currentThread().getName());
            events.addAll(batch);
        }

        @Override
        public boolean full() {
            return full.get();
        }

        List<GenerationEvent> untilEnd() throws InterruptedException {
            List<GenerationEvent> all = new ArrayList<>();
            while (true) {
                GenerationEvent event = events.poll(30, TimeUnit.SECONDS);
                assertThat(event).as("an event within 30 s, after %s", all).isNotNull();
                all.add(event);
                if (event instanceof GenerationEvent.Finished || event instanceof GenerationEvent.Failed) {
                    return all;
                }
            }
        }
    }

    private Sink send(Prompt prompt, int maxNew, String... stops) {
        return send(prompt, maxNew, GenerateOptions.PLAIN, stops);
    }

    private Sink send(Prompt prompt, int maxNew, GenerateOptions options, String... stops) {
        Sink sink = new Sink();
        pipeline.generate(new GenerateRequest(
                pipeline.nextId(), prompt, SamplingParams.GREEDY, maxNew, List.of(stops), options, sink.cancel, sink));
        return sink;
    }

    private static Prompt text(String text) {
        return new Prompt.Text(text, false);
    }

    private static String said(List<GenerationEvent> events) {
        return events.stream()
                .filter(GenerationEvent.Tokens.class::isInstance)
                .map(event -> ((GenerationEvent.Tokens) event).text())
                .collect(Collectors.joining());
    }

    private static GenerationEvent.Finished end(List<GenerationEvent> events) {
        return (GenerationEvent.Finished) events.getLast();
    }

    private static GenerationEvent.Failed failure(List<GenerationEvent> events) {
        return (GenerationEvent.Failed) events.getLast();
    }

    @Test
    void generate_tellsStartProgressTokensAndEndInThisOrder() throws InterruptedException {
        List<GenerationEvent> events = send(text("xxxxe"), 10).untilEnd();
        assertThat(said(events)).isEqualTo("dcba");
        assertThat(end(events).reason()).isEqualTo(FinishReason.END);
        assertThat(end(events).usage()).isEqualTo(new Usage(5, 0, 5, 0));
        assertThat(events.get(0)).isEqualTo(new GenerationEvent.Started(5, 0));
        assertThat(events.get(1)).isEqualTo(new GenerationEvent.PrefillProgress(3, 5, 0));
        assertThat(events.get(2)).isEqualTo(new GenerationEvent.PrefillProgress(5, 5, 0));
        assertThat(model.fed.subList(0, 3)).containsExactly(List.of(120, 120, 120), List.of(120, 101), List.of(100));
    }

    @Test
    void decodeThread_isOneAndNeverTheSinksThread() throws InterruptedException {
        Sink first = send(text("e"), 10);
        first.untilEnd();
        Sink second = send(text("e"), 10);
        second.untilEnd();
        assertThat(new HashSet<>(model.threads)).hasSize(1).allMatch(name -> name.startsWith("decode"));
        assertThat(first.threads).noneMatch(name -> name.startsWith("decode"));
    }

    @Test
    void prefill_pausesAtBoundaries() throws InterruptedException {
        send(new Prompt.Ids(new int[] {120, 120, 120, 120, 98}), 5).untilEnd();
        assertThat(model.boundaries).containsExactly(4);
        assertThat(model.fed.subList(0, 3)).containsExactly(List.of(120, 120, 120), List.of(120), List.of(98));
    }

    @Test
    void generate_stopsAtTheBound() throws InterruptedException {
        List<GenerationEvent> events = send(text("e"), 2).untilEnd();
        assertThat(said(events)).isEqualTo("dc");
        assertThat(end(events).reason()).isEqualTo(FinishReason.LENGTH);
        assertThat(end(events).usage().completionTokens()).isEqualTo(2);
    }

    @Test
    void generate_stopsBeforeAStopStringAndReleasesAFalseAlarm() throws InterruptedException {
        List<GenerationEvent> events = send(text("h"), 20, "fed").untilEnd();
        assertThat(said(events)).isEqualTo("g");
        assertThat(end(events).reason()).isEqualTo(FinishReason.STOP);
        events = send(text("h"), 20, "fex").untilEnd();
        assertThat(said(events)).isEqualTo("gfedcba");
        events = send(text("h"), 3, "edX").untilEnd();
        assertThat(said(events)).as("held back at the bound, then released").isEqualTo("gfe");
    }

    @Test
    void cancel_stopsWithinALayer() throws InterruptedException {
        Sink sink = new Sink();
        AtomicInteger layers = new AtomicInteger();
        model.beforeLayer = () -> {
            if (layers.incrementAndGet() == 2 * FakeModel.LAYERS + 2) {
                sink.cancel.cancel();
            }
        };
        pipeline.generate(new GenerateRequest(
                1, text("zzz"), SamplingParams.GREEDY, 100, List.of(), GenerateOptions.PLAIN, sink.cancel, sink));
        List<GenerationEvent> events = sink.untilEnd();
        assertThat(end(events).reason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(layers).hasValue(2 * FakeModel.LAYERS + 2);
        assertThat(said(events)).isEqualTo("yx");
        model.beforeLayer = () -> {};
        assertThat(said(send(text("c"), 10).untilEnd())).isEqualTo("ba");
    }

    @Test
    void engineError_failsThatRequestOnly() throws InterruptedException {
        model.failure = new IllegalStateException("drive /x: EIO");
        assertThat(failure(send(text("e"), 10).untilEnd()))
                .isEqualTo(new GenerationEvent.Failed(ErrorKind.ENGINE, "drive /x: EIO"));
        assertThat(said(send(text("c"), 10).untilEnd())).isEqualTo("ba");
    }

    @Test
    void badPrompts_areRefusedWithTheirReason() throws InterruptedException {
        assertThat(failure(send(text("refuse"), 10).untilEnd()).kind()).isEqualTo(ErrorKind.INVALID_REQUEST);
        assertThat(failure(send(text(""), 10).untilEnd()).kind()).isEqualTo(ErrorKind.CONTEXT_LENGTH);
        assertThat(failure(send(text("x".repeat(1000)), 10).untilEnd()).message())
                .contains("1000 tokens")
                .contains("holds 1000");
        assertThat(pipeline.status().underWay()).isZero();
    }

    @Test
    void answer_endsAtTheContextsEnd() throws InterruptedException {
        List<GenerationEvent> events =
                send(text("x".repeat(997) + (char) 400), 100).untilEnd();
        assertThat(end(events).reason()).isEqualTo(FinishReason.LENGTH);
        assertThat(end(events).usage()).isEqualTo(new Usage(998, 0, 3, 0));
    }

    @Test
    void queue_refusesWhenFullTellsPositionsAndLetsClientsTakeTurns() throws Exception {
        pipeline.close();
        model.closed = false;
        pipeline = start(new PipelineConfig("auto", 1, 3));
        CountDownLatch go = new CountDownLatch(1);
        model.beforeLayer = () -> await(go);
        Sink running = send(text("b"), 10);
        assertThat(running.events.poll(30, TimeUnit.SECONDS)).isInstanceOf(GenerationEvent.Started.class);
        List<String> order = new CopyOnWriteArrayList<>();
        GenerateOptions anna = client("anna");
        GenerateOptions bert = client("bert");
        noting(order, "anna 1", anna);
        Thread.sleep(200); // four tokenizers work at once: let one prompt be done before the next is sent
        noting(order, "anna 2", anna);
        Thread.sleep(200);
        noting(order, "bert 1", bert);
        assertThatThrownBy(() -> send(text("b"), 10)).isInstanceOf(QueueFullException.class);
        Thread.sleep(200);
        go.countDown();
        while (pipeline.status().underWay() > 0) {
            Thread.sleep(5);
        }
        assertThat(order).contains("anna 1 queued 1", "anna 2 queued 2", "bert 1 queued 3", "bert 1 queued 2");
        assertThat(order.stream().filter(line -> line.endsWith("started")))
                .containsExactly("anna 1 started", "bert 1 started", "anna 2 started");
    }

    private static GenerateOptions client(String name) {
        return new GenerateOptions(name, -1, false, false, CallRules.NONE);
    }

    private void noting(List<String> order, String name, GenerateOptions options) {
        pipeline.generate(new GenerateRequest(
                pipeline.nextId(),
                text("b"),
                SamplingParams.GREEDY,
                10,
                List.of(),
                options,
                new CancelToken(),
                events -> events.forEach(event -> {
                    switch (event) {
                        case GenerationEvent.Queued queued -> order.add(name + " queued " + queued.position());
                        case GenerationEvent.Started _ -> order.add(name + " started");
                        default -> {}
                    }
                })));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void cancelWhileQueued_vanishesAndTheNextRuns() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        model.beforeLayer = () -> await(go);
        Sink running = send(text("b"), 10);
        Sink waiting = send(text("b"), 10);
        Sink last = send(text("b"), 10);
        waiting.cancel.cancel();
        go.countDown();
        assertThat(end(waiting.untilEnd()).reason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(said(running.untilEnd())).isEqualTo("a");
        assertThat(said(last.untilEnd())).isEqualTo("a");
    }

    @Test
    void fullSink_pausesGenerationUntilItHasRoom() throws Exception {
        Sink sink = new Sink();
        model.beforeLayer = () -> sink.full.set(true);
        pipeline.generate(new GenerateRequest(
                1, text("d"), SamplingParams.GREEDY, 10, List.of(), GenerateOptions.PLAIN, sink.cancel, sink));
        while (model.fed.isEmpty()) {
            Thread.sleep(1);
        }
        Thread.sleep(100);
        assertThat(model.fed).hasSize(1);
        model.beforeLayer = () -> {};
        sink.full.set(false);
        assertThat(said(sink.untilEnd())).isEqualTo("cba");
    }

    @Test
    void close_endsTheRunningAndRefusesTheWaiting() throws Exception {
        CountDownLatch began = new CountDownLatch(1);
        model.beforeLayer = () -> {
            began.countDown();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        };
        Sink running = send(text("zzz"), 100);
        await(began);
        Sink waiting = send(text("b"), 10);
        pipeline.close();
        assertThat(end(running.untilEnd()).reason()).isEqualTo(FinishReason.CANCELLED);
        assertThat(waiting.untilEnd().getLast())
                .isInstanceOfAny(GenerationEvent.Failed.class, GenerationEvent.Finished.class);
        assertThat(said(waiting.events.stream().toList())).isEmpty();
    }

    @Test
    void tap_showsRoutesTokensAndRequestsOnlyWhileOpen() throws Exception {
        send(text("c"), 10).untilEnd();
        assertThat(pipeline.tap().open()).isFalse();
        List<TapEvent> seen = new CopyOnWriteArrayList<>();
        try (Tap.Listening _ = pipeline.tap().listen(seen::add)) {
            assertThat(pipeline.tap().open()).isTrue();
            send(text("c"), 10).untilEnd();
            while (seen.stream()
                    .noneMatch(event ->
                            event instanceof TapEvent.Request r && r.state().equals("ended"))) {
                Thread.sleep(1);
            }
        }
        assertThat(pipeline.tap().open()).isFalse();
        assertThat(seen.stream().filter(TapEvent.Route.class::isInstance)).hasSize(3 * FakeModel.LAYERS);
        assertThat(seen.stream().filter(TapEvent.Token.class::isInstance).map(event -> ((TapEvent.Token) event).id()))
                .containsExactly((int) 'b', (int) 'a', 0);
    }

    @Test
    void transport_isTheBestThatWorksHereAndIsTold() {
        String told = pipeline.status().transport();
        String used = ((VertxInternal) pipeline.vertx()).transport().getClass().getSimpleName();
        assertThat(used).isEqualToIgnoringCase(told.replace("_", "") + "Transport");
        if (io.vertx.core.transport.Transport.IO_URING != null
                && io.vertx.core.transport.Transport.IO_URING.available()) {
            assertThat(told).isEqualTo("io_uring");
        }
    }

    @Test
    void transport_thatIsMissingIsRefusedByName() {
        PipelineConfig kqueue = new PipelineConfig("kqueue", 1, 1);
        if (System.getProperty("os.name").equals("Linux")) {
            assertThatThrownBy(() -> Transports.choose(kqueue))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("kqueue")
                    .hasMessageContaining("use auto or nio");
        }
        assertThat(Transports.choose(new PipelineConfig("nio", 1, 1)).name()).isEqualTo("nio");
    }

    @Test
    void modelThatCannotBeOpened_failsReady() {
        try (Pipeline broken = Pipeline.start(
                new PipelineConfig("auto", 1, 1),
                () -> {
                    throw new IllegalStateException("no such drive");
                },
                new FakeModel.FakeText())) {
            assertThatThrownBy(broken::awaitReady)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no such drive");
            assertThat(broken.status().ready()).isFalse();
        }
    }

    @Test
    void everyMessage_hasACodec() {
        assertThat(TapEvent.class.getPermittedSubclasses())
                .allSatisfy(event -> assertThat(Pipeline.MESSAGES).contains(event));
        assertThat(Pipeline.MESSAGES).contains(Arrival.class, TokenizedRequest.class);
    }
}
