package ai.deltafin.pipeline;

/**
 * A request at the pipeline's door.
 *
 * @param request the request
 * @param outbox where its events go
 * @param arrivedNanos {@link System#nanoTime} of its arrival
 */
record Arrival(GenerateRequest request, Outbox outbox, long arrivedNanos) {}
