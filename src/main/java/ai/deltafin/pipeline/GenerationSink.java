package ai.deltafin.pipeline;

import java.util.List;

/** Where a request's events go. */
public interface GenerationSink {

    /**
     * Takes the events since the last call, in order; the last one of all is {@link GenerationEvent.Finished} or
     * {@link GenerationEvent.Failed}. Called on the Vert.x context that the request came from, never concurrently.
     */
    void accept(List<GenerationEvent> events);

    /**
     * Whether so much is waiting to be written that generation should pause. Read by the decode thread between steps. A
     * request that stays full for {@link DecodeLoop#PATIENCE} fails.
     */
    default boolean full() {
        return false;
    }
}
