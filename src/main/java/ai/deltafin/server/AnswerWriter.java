package ai.deltafin.server;

import ai.deltafin.pipeline.GenerationEvent;
import tools.jackson.databind.node.ObjectNode;

/**
 * An answer in one API's words. Streamed, each method gives the frames to send, perhaps none, and every frame ends with
 * a blank line; whole, {@link #body} is sent at the end.
 */
interface AnswerWriter {

    /** The stream begins. */
    String open();

    /** New tokens of a choice. */
    String tokens(int choice, GenerationEvent.Tokens tokens);

    /** A choice is over. */
    String finished(int choice, GenerationEvent.Finished finished);

    /** All choices are over; nothing follows. */
    String close();

    /** Nothing has come for a while; {@code progress} says why, for people. */
    String heartbeat(String progress);

    /** The answer broke off; nothing follows, and nothing that looks like success. */
    String error(ApiException e);

    /** The whole answer as one document, when all choices are over. */
    ObjectNode body();
}
