package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.Constraint;

/** Text on its way in and out: prompts to ids, ids to what a client sees. Any thread may use it. */
public interface TextCodec {

    /**
     * The ids of a prompt and where other prompts may part from it.
     *
     * @param cancel looked at while a long text is encoded
     * @throws RequestException for a prompt that cannot be honoured
     * @throws java.util.concurrent.CancellationException if the token was cancelled meanwhile
     */
    EncodedPrompt encode(Prompt prompt, CancelToken cancel);

    /**
     * A reader for the answer to one request.
     *
     * @throws RequestException for stop strings that cannot be honoured
     */
    AnswerReader reader(GenerateRequest request);

    /**
     * What the answer to a request must look like.
     *
     * @throws RequestException for a schema that decoding cannot be held to
     */
    Constraint constraint(GenerateRequest request);
}
