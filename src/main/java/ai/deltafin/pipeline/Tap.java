package ai.deltafin.pipeline;

import io.vertx.core.Vertx;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A window on the engine at work: events published on well-known addresses. With nobody listening it costs the decode
 * thread one field read, since callers ask {@link #open} before they build an event.
 */
public final class Tap {

    public static final String ROUTE = "deltafin.tap.route";
    public static final String READ = "deltafin.tap.read";
    public static final String TOKEN = "deltafin.tap.token";
    public static final String REQUEST = "deltafin.tap.request";

    private static final List<String> ADDRESSES = List.of(ROUTE, READ, TOKEN, REQUEST);

    private final Vertx vertx;
    private final AtomicInteger listeners = new AtomicInteger();

    Tap(Vertx vertx) {
        this.vertx = vertx;
    }

    /** Whether anyone listens. */
    public boolean open() {
        return listeners.get() > 0;
    }

    /** Publishes an event; call it only while {@link #open}. */
    public void publish(TapEvent event) {
        vertx.eventBus().publish(event.address(), event);
    }

    /** Listens on the caller's Vert.x context until the returned handle is closed. */
    public Listening listen(Consumer<TapEvent> listener) {
        List<MessageConsumer<TapEvent>> consumers = ADDRESSES.stream()
                .map(address ->
                        vertx.eventBus().<TapEvent>localConsumer(address, message -> listener.accept(message.body())))
                .toList();
        listeners.incrementAndGet();
        return new Listening(consumers);
    }

    /** One listener; closing it lowers the tap's counter once. */
    public final class Listening implements AutoCloseable {
        private List<MessageConsumer<TapEvent>> consumers;

        private Listening(List<MessageConsumer<TapEvent>> consumers) {
            this.consumers = consumers;
        }

        @Override
        public synchronized void close() {
            if (!consumers.isEmpty()) {
                listeners.decrementAndGet();
                consumers.forEach(consumer -> consumer.unregister().onFailure(e -> {}));
                consumers = List.of();
            }
        }
    }
}
