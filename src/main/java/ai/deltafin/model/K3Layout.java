package ai.deltafin.model;

import java.util.List;
import java.util.Optional;

/**
 * Every tensor of the text model in its place, checked against the config for name, dtype and shape (k3-model.md 2.2)
 * before any forward pass.
 *
 * @param embed [V, H]
 * @param lmHead [V, H]; the embedding where the two are tied
 * @param norm the final norm [H]
 * @param outputMix the output site of the attention residual; empty without attention residuals
 * @param layers by zero-based number
 */
public record K3Layout(
        Matrix.Plain embed, Matrix lmHead, TensorInfo norm, Optional<Mix> outputMix, List<LayerTensors> layers) {
    public K3Layout {
        layers = List.copyOf(layers);
    }

    /**
     * One site of the attention residual (k3-model.md 3.2).
     *
     * @param norm [H]
     * @param proj [1, H]
     */
    public record Mix(TensorInfo norm, TensorInfo proj) {}

    /**
     * One layer.
     *
     * @param inputNorm [H]
     * @param postNorm [H], before the feed-forward block
     * @param attnMix attention site; empty without attention residuals
     * @param mlpMix feed-forward site; empty without attention residuals
     */
    public record LayerTensors(
            TensorInfo inputNorm,
            TensorInfo postNorm,
            Optional<Mix> attnMix,
            Optional<Mix> mlpMix,
            Attention attention,
            Ffn ffn) {}

    /** The attention of a layer. */
    public sealed interface Attention {}

    /**
     * Linear attention (k3-model.md 3.5).
     *
     * @param q [P, H], and so {@code k}, {@code v}
     * @param o [H, P]
     * @param decayDown f_a_proj [D, H]
     * @param decayUp f_b_proj [P, D]
     * @param beta b_proj [N, H]
     * @param gate the output gate
     * @param qConv F32 [P, 1, W] or [P, W], and so {@code kConv}, {@code vConv}
     * @param aLog F32; the first N values count, whatever the shape; the rest is zero
     * @param dtBias F32 [P]
     * @param oNorm F32 [D], shared by all heads
     */
    public record KdaTensors(
            Matrix q,
            Matrix k,
            Matrix v,
            Matrix o,
            Matrix decayDown,
            Matrix decayUp,
            Matrix beta,
            KdaGate gate,
            TensorInfo qConv,
            TensorInfo kConv,
            TensorInfo vConv,
            TensorInfo aLog,
            TensorInfo dtBias,
            TensorInfo oNorm)
            implements Attention {}

    /** The output gate of linear attention. */
    public sealed interface KdaGate {
        /** g_proj [P, H]. */
        record Full(Matrix g) implements KdaGate {}

        /** g_b_proj [P, D] times g_a_proj [D, H]. */
        record LowRank(Matrix down, Matrix up) implements KdaGate {}
    }

    /**
     * Latent attention (k3-model.md 3.6).
     *
     * @param query how the query is formed
     * @param kvDown kv_a_proj_with_mqa [Rc + dr, H]
     * @param kvNorm [Rc]
     * @param kvUp kv_b_proj [A (dn + dv), Rc]: for each head its key rows, then its value rows
     * @param gate g_proj [A dv, H]; empty: no gate
     * @param o [H, A dv]
     */
    public record MlaTensors(
            MlaQuery query, Matrix kvDown, TensorInfo kvNorm, Matrix.Plain kvUp, Optional<Matrix> gate, Matrix o)
            implements Attention {}

    /** The query of latent attention. */
    public sealed interface MlaQuery {
        /** q_proj [A dq, H]. */
        record Full(Matrix q) implements MlaQuery {}

        /** q_b_proj [A dq, Rq] times the normed q_a_proj [Rq, H]; norm [Rq]. */
        record LowRank(Matrix down, TensorInfo norm, Matrix up) implements MlaQuery {}
    }

    /** The feed-forward block of a layer. */
    public sealed interface Ffn {}

    /** A gated block of width n: gate [n, H], up [n, H], down [H, n] (k3-model.md 3.7). */
    public record DenseTensors(Matrix gate, Matrix up, Matrix down) implements Ffn {}

    /**
     * Routed experts and the always-active block (k3-model.md 3.9).
     *
     * @param router gate [E, H]
     * @param bias F32 [E], used to choose only
     * @param latent projections around the experts; empty: they act on H
     * @param shared the always-active block; empty: there is none
     * @param experts where the routed experts lie
     */
    public record MoeTensors(
            Matrix.Plain router,
            TensorInfo bias,
            Optional<LatentTensors> latent,
            Optional<DenseTensors> shared,
            ExpertTable experts)
            implements Ffn {}

    /**
     * The projections around the routed experts.
     *
     * @param down [Z, H]
     * @param norm [Z]; empty: the sum is not normed
     * @param up [H, Z]
     */
    public record LatentTensors(Matrix down, Optional<TensorInfo> norm, Matrix up) {}
}
