package ai.deltafin.pipeline;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of a request went.
 *
 * @param queueNanos from arrival to the decode verticle's taking it up, tokenisation included
 * @param tokenizeNanos rendering and encoding of the prompt
 * @param prefill from being taken up to the prompt's last logits
 * @param decode from there to the end
 * @param passes forward passes
 * @param expertBytesRead bytes of experts read from drives
 * @param expertWaitNanos time the decode thread waited for them
 * @param logitsSha256 SHA-256 of the little-endian fp32 logits after the prompt's last id, where the request asked
 */
public record GenerationStats(
        long queueNanos,
        long tokenizeNanos,
        Phase prefill,
        Phase decode,
        int passes,
        long expertBytesRead,
        long expertWaitNanos,
        @Nullable String logitsSha256) {

    /** Nothing was computed. */
    static GenerationStats beforeStart(long queueNanos, long tokenizeNanos) {
        Phase none = new Phase(0, 0, Map.of());
        return new GenerationStats(queueNanos, tokenizeNanos, none, none, 0, 0, 0, null);
    }

    /**
     * One phase of a request.
     *
     * @param nanos wall time
     * @param kernelNanos the part of it spent inside kernel calls
     * @param partNanos time inside passes by kind of work
     */
    public record Phase(long nanos, long kernelNanos, Map<String, Long> partNanos) {
        public Phase {
            partNanos = Map.copyOf(partNanos);
        }

        /** What happened between two readings of the model's counters. */
        static Phase between(long nanos, DecodeModel.Counters before, DecodeModel.Counters after) {
            Map<String, Long> parts = new HashMap<>(after.partNanos());
            before.partNanos().forEach((part, value) -> parts.merge(part, -value, Long::sum));
            return new Phase(nanos, after.kernelNanos() - before.kernelNanos(), parts);
        }
    }
}
