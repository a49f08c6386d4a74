package ai.deltafin.pipeline;

/** The queue in front of the decode verticle holds as many requests as it may. */
public final class QueueFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    QueueFullException(int waiting) {
        super(waiting + " requests are waiting and the queue is full: try again later, or raise pipeline.queue");
    }
}
