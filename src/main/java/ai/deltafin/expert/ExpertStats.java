package ai.deltafin.expert;

/**
 * Counters of an expert source since it was opened.
 *
 * @param demanded experts asked for by layers
 * @param hits demanded experts that were in RAM already
 * @param reads experts read from a drive because a layer demanded them
 * @param readBytes bytes moved from drives for demanded experts
 * @param speculativeBytes bytes moved from drives for predictions
 * @param waitNanos time the decode thread waited for reads
 */
public record ExpertStats(
        long demanded, long hits, long reads, long readBytes, long speculativeBytes, long waitNanos) {}
