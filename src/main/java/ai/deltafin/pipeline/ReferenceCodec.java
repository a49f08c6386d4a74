package ai.deltafin.pipeline;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;

/** Hands an immutable record over the event bus by reference. It never leaves the process, so the wire is refused. */
record ReferenceCodec<T>(String name) implements MessageCodec<T, T> {

    @Override
    public void encodeToWire(Buffer buffer, T message) {
        throw new UnsupportedOperationException(name + " stays in its process");
    }

    @Override
    public T decodeFromWire(int position, Buffer buffer) {
        throw new UnsupportedOperationException(name + " stays in its process");
    }

    @Override
    public T transform(T message) {
        return message;
    }

    @Override
    public byte systemCodecID() {
        return -1;
    }
}
