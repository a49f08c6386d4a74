package ai.deltafin.pipeline;

/**
 * What the pipeline is doing.
 *
 * @param transport how Netty talks to the kernel: io_uring, epoll, kqueue or nio
 * @param ready whether the model is open
 * @param underWay requests that run or wait
 * @param places requests that may run or wait
 */
public record PipelineStatus(String transport, boolean ready, int underWay, int places) {}
