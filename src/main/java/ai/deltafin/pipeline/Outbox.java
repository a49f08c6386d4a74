package ai.deltafin.pipeline;

import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Carries one request's events to the context it came from. Whatever is added while a hand-over is on its way travels
 * with it, so a slow receiver gets fewer, larger lists and the adding thread never waits.
 */
final class Outbox {

    private final Context context;
    private final GenerationSink sink;
    private final Queue<GenerationEvent> events = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean underWay = new AtomicBoolean();

    Outbox(Context context, GenerationSink sink) {
        this.context = context;
        this.sink = sink;
    }

    /** Adds an event; any thread, but only one at a time. */
    void add(GenerationEvent event) {
        events.add(event);
        if (underWay.compareAndSet(false, true)) {
            context.runOnContext(_ -> drain());
        }
    }

    private void drain() {
        underWay.set(false);
        List<GenerationEvent> batch = new ArrayList<>();
        for (GenerationEvent event = events.poll(); event != null; event = events.poll()) {
            batch.add(event);
        }
        if (!batch.isEmpty()) {
            sink.accept(List.copyOf(batch));
        }
    }

    /** Whether the receiver asks for a pause. */
    boolean full() {
        return sink.full();
    }
}
