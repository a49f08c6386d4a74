package ai.deltafin.pipeline;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that computes. It runs a bounded step, then puts itself behind the messages that have come meanwhile:
 * new requests get in between two passes, a cancellation between two layers.
 */
final class DecodeVerticle extends VerticleBase {

    private static final long PARKED_MILLIS = 5;

    private final Supplier<DecodeLoop> opener;
    private volatile @Nullable DecodeLoop loop;
    private boolean scheduled;

    /** A verticle that opens its model on its own thread. */
    DecodeVerticle(Supplier<DecodeLoop> opener) {
        this.opener = opener;
    }

    @Override
    public Future<?> start() {
        DecodeLoop opened = opener.get();
        loop = opened;
        vertx.eventBus().<TokenizedRequest>localConsumer(Addresses.DECODE, message -> {
            opened.add(message.body());
            schedule(opened);
        });
        return Future.succeededFuture();
    }

    private void schedule(DecodeLoop opened) {
        if (!scheduled) {
            scheduled = true;
            context.runOnContext(_ -> step(opened));
        }
    }

    private void step(DecodeLoop opened) {
        scheduled = false;
        switch (opened.step()) {
            case AGAIN -> schedule(opened);
            case LATER -> vertx.setTimer(PARKED_MILLIS, _ -> schedule(opened));
            case IDLE -> {}
        }
    }

    /** Any thread: lets the running pass end at its next layer, so that {@link #stop} gets its turn. */
    void shutDown() {
        DecodeLoop opened = loop;
        if (opened != null) {
            opened.shutDown();
        }
    }

    @Override
    public Future<?> stop() {
        DecodeLoop opened = loop;
        if (opened != null) {
            opened.close();
        }
        return Future.succeededFuture();
    }
}
