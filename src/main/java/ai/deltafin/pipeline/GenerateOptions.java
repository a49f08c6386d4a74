package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.Constraint;

/**
 * What a request may ask for beside its text.
 *
 * @param client requests of one client wait for each other; those of different clients take turns
 * @param topLogprobs alternatives to report with each id's log-probability; 0 reports the chosen id alone, negative
 *     nothing
 * @param hashLogits whether to report a hash of the logits after the prompt
 * @param ignoreEnd goes on after the model's end marker up to the bound; for measurements
 * @param constraint what may come at the first new position
 */
public record GenerateOptions(
        String client, int topLogprobs, boolean hashLogits, boolean ignoreEnd, Constraint constraint) {

    /** One client, no log-probabilities, no hash. */
    public static final GenerateOptions PLAIN = new GenerateOptions("", -1, false, false, Constraint.NONE);

    /** The same with a hash of the logits after the prompt. */
    public GenerateOptions withHash() {
        return new GenerateOptions(client, topLogprobs, true, ignoreEnd, constraint);
    }
}
