package ai.deltafin.server;

import java.util.function.Consumer;
import tools.jackson.databind.node.ObjectNode;

/** Reads the body of one API's generation request. */
interface RequestReader {

    /**
     * The request.
     *
     * @param context what a reader must know of the model
     * @throws ApiException naming the field that cannot be honoured
     */
    Ask read(ObjectNode body, Context context);

    /**
     * What readers know besides the body.
     *
     * @param vocabulary number of token ids
     * @param unknown told of each unknown field; throws where those are refused
     */
    record Context(int vocabulary, Consumer<String> unknown) {}
}
