package ai.deltafin.expert;

import ai.deltafin.io.ReaderKind;

/**
 * How experts are streamed.
 *
 * @param slots experts that fit into RAM, spare ones included
 * @param reader which reader to use
 * @param prefetch whether to read ahead
 * @param pinBytes of the hottest experts that stay once they were read
 * @param pieceBytes of one read
 * @param windowBytes most bytes in flight on one drive
 * @param prefault whether all slots get their memory at once, so that no read meets a page fault
 */
public record StreamingOptions(
        int slots,
        ReaderKind reader,
        Prefetch prefetch,
        long pinBytes,
        int pieceBytes,
        int windowBytes,
        boolean prefault) {

    /** Whether guessed experts are read before their layer's route is known. */
    public enum Prefetch {
        /** While the guesses prove right often enough. */
        AUTO,
        ON,
        OFF
    }

    public StreamingOptions {
        if (slots < 1) {
            throw new IllegalArgumentException("expert slots: " + slots);
        }
    }

    /** Everything chosen automatically, with room for that many experts. */
    public static StreamingOptions withSlots(int slots) {
        return new StreamingOptions(slots, ReaderKind.AUTO, Prefetch.AUTO, 0, 1 << 20, 8 << 20, true);
    }
}
