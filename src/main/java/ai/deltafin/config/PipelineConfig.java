package ai.deltafin.config;

/**
 * The event bus and its verticles.
 *
 * @param transport auto (io_uring, then epoll or kqueue, then NIO), or one of them by name
 * @param eventLoops event-loop threads; the compute threads own the cores, so one is enough for most
 * @param queue requests that may wait for the decode verticle beyond the one that runs; 0 refuses at once
 */
public record PipelineConfig(String transport, int eventLoops, int queue) {

    public PipelineConfig {
        Check.oneOf("pipeline.transport", transport, "auto", "io_uring", "epoll", "kqueue", "nio");
        Check.range("pipeline.eventLoops", eventLoops, 1, 64);
        Check.range("pipeline.queue", queue, 0, 100_000);
    }

    static PipelineConfig defaults() {
        return new PipelineConfig("auto", 1, 64);
    }
}
