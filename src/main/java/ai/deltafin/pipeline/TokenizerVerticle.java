package ai.deltafin.pipeline;

import ai.deltafin.engine.sampling.Constraint;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CancellationException;
import java.util.function.Consumer;

/** Turns prompts into ids on virtual threads: a megabyte of text holds up neither the event loop nor the decode thread. */
final class TokenizerVerticle extends VerticleBase {

    private static final Logger LOG = System.getLogger(TokenizerVerticle.class.getName());

    private final TextCodec text;
    private final Consumer<GenerateRequest> ended;

    /**
     * A verticle over the model's tokenizer.
     *
     * @param ended called once for each request that ends here
     */
    TokenizerVerticle(TextCodec text, Consumer<GenerateRequest> ended) {
        this.text = text;
        this.ended = ended;
    }

    @Override
    public Future<?> start() {
        vertx.eventBus().<Arrival>localConsumer(Addresses.TOKENIZE, message -> tokenize(message.body()));
        return Future.succeededFuture();
    }

    private void tokenize(Arrival arrival) {
        long start = System.nanoTime();
        try {
            vertx.eventBus().send(Addresses.DECODE, encoded(arrival, start));
        } catch (RequestException e) {
            end(
                    arrival,
                    new GenerationEvent.Failed(ErrorKind.INVALID_REQUEST, String.valueOf(e.getMessage()), e.field()));
        } catch (CancellationException _) {
            long took = System.nanoTime() - start;
            end(arrival, GenerationEvent.Finished.beforeStart(0, arrival.arrivedNanos(), took));
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a prompt could not be encoded", e);
            end(arrival, new GenerationEvent.Failed(ErrorKind.ENGINE, "the prompt could not be encoded: " + e));
        }
    }

    private TokenizedRequest encoded(Arrival arrival, long start) {
        GenerateRequest request = arrival.request();
        AnswerReader answer = text.reader(request);
        Constraint constraint = text.constraint(request);
        EncodedPrompt prompt = text.encode(request.prompt(), request.cancel());
        long took = System.nanoTime() - start;
        return new TokenizedRequest(
                request, prompt, answer, constraint, arrival.outbox(), arrival.arrivedNanos(), took);
    }

    private void end(Arrival arrival, GenerationEvent ending) {
        ended.accept(arrival.request());
        arrival.outbox().add(ending);
    }
}
