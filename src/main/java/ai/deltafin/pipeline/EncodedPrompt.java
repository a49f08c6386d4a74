package ai.deltafin.pipeline;

/**
 * A prompt as token ids.
 *
 * @param ids the ids
 * @param boundaries ascending lengths, each less than that of {@code ids}, at which another prompt may part from this
 *     one: ends of messages. Prefill pauses there so that the session can be kept.
 */
public record EncodedPrompt(int[] ids, int[] boundaries) {

    /** A prompt without boundaries. */
    public static EncodedPrompt of(int[] ids) {
        return new EncodedPrompt(ids, new int[0]);
    }

    /** The first boundary beyond a length, or the prompt's end. */
    int nextBoundary(int length) {
        for (int boundary : boundaries) {
            if (boundary > length) {
                return boundary;
            }
        }
        return ids.length;
    }

    /** Whether the length is a boundary. */
    boolean isBoundary(int length) {
        for (int boundary : boundaries) {
            if (boundary == length) {
                return true;
            }
        }
        return false;
    }
}
