package ai.deltafin.pipeline;

/**
 * What a request may ask for beside its text.
 *
 * @param client requests of one client wait for each other; those of different clients take turns
 * @param topLogprobs alternatives to report with each id's log-probability; 0 reports the chosen id alone, negative
 *     nothing
 * @param hashLogits whether to report a hash of the logits after the prompt
 * @param ignoreEnd goes on after the model's end marker up to the bound; for measurements
 * @param calls what is demanded of a chat's tool calls beyond what the prompt says
 */
public record GenerateOptions(String client, int topLogprobs, boolean hashLogits, boolean ignoreEnd, CallRules calls) {

    /** One client, no log-probabilities, no hash. */
    public static final GenerateOptions PLAIN = new GenerateOptions("", -1, false, false, CallRules.NONE);

    /** The same with a hash of the logits after the prompt. */
    public GenerateOptions withHash() {
        return new GenerateOptions(client, topLogprobs, true, ignoreEnd, calls);
    }
}
