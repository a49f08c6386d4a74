package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.Constraint;

/**
 * A request whose prompt is token ids: what the tokenizer verticle sends to the decode verticle.
 *
 * @param request the request as it came
 * @param prompt the prompt's ids
 * @param answer turns generated ids into events; knows the stop strings
 * @param constraint what may come at the first new position
 * @param outbox where its events go
 * @param arrivedNanos {@link System#nanoTime} of its arrival
 * @param tokenizeNanos how long rendering and encoding took
 */
record TokenizedRequest(
        GenerateRequest request,
        EncodedPrompt prompt,
        AnswerReader answer,
        Constraint constraint,
        Outbox outbox,
        long arrivedNanos,
        long tokenizeNanos) {}
