package ai.deltafin.pipeline;

import ai.deltafin.chat.AnswerEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns generated ids into what a client sees, one answer long. Used by the decode thread. */
public interface AnswerReader {

    /**
     * What some ids add.
     *
     * @param parsed parts of a chat's answer
     * @param text text of a raw continuation, whole characters only
     */
    record Piece(List<AnswerEvent> parsed, String text) {}

    /** Takes the next id. */
    Piece push(int id);

    /** Why the ids pushed so far end the answer, or null if it goes on. */
    @Nullable
    FinishReason ended();

    /** The stop string that ended the answer, or null. */
    @Nullable
    String stopString();

    /** Ids so far that are text of a chat's reasoning. */
    int reasoningTokens();

    /** No more ids come though the answer has not ended: releases what was held back for the next one. */
    Piece cut();
}
