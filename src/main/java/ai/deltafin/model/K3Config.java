package ai.deltafin.model;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Every dimension and choice of a K3-shaped model that its config.json states (k3-model.md 1). Nothing is invented: a
 * dimension that is missing is refused when the file is read. Symbols in brackets are those of k3-model.md 0.2. No relation
 * between dimensions is promised beyond those said here.
 *
 * @param hiddenSize width of the residual stream [H]
 * @param vocabSize rows of the embedding [V]
 * @param layers number of layers [L]
 * @param denseSize width of the dense feed-forward block [Fd]
 * @param rmsEps epsilon of the norms [EPS]; the low-rank norms of MLA have their own, an engine setting (8.3)
 * @param activation gate function of every feed-forward block
 * @param attnResBlock layers of one attention-residual block [B]; empty: plain pre-norm residuals
 * @param kda linear attention; empty: every layer is MLA
 * @param mla latent attention
 * @param moe routed experts; empty: every layer is dense
 * @param tiedEmbeddings whether lm_head is the embedding
 * @param mxfp4 whether the config declares MXFP4 weights
 * @param tokens ids that the config names
 */
public record K3Config(
        int hiddenSize,
        int vocabSize,
        int layers,
        int denseSize,
        float rmsEps,
        Activation activation,
        OptionalInt attnResBlock,
        Optional<Kda> kda,
        Mla mla,
        Optional<Moe> moe,
        boolean tiedEmbeddings,
        boolean mxfp4,
        TokenIds tokens) {

    /** Reads and checks config.json; throws {@link ModelException} for a field that is missing, wrong or not supported. */
    public static K3Config read(Path file) {
        return ConfigReader.read(file);
    }

    /** Whether a zero-based layer attends linearly; if not, it is MLA. */
    public boolean isKda(int layer) {
        return kda.isPresent() && kda.get().layers().contains(layer);
    }

    /** Whether a zero-based layer has routed experts; if not, it is dense. */
    public boolean isMoe(int layer) {
        return moe.isPresent()
                && layer >= moe.get().firstLayer()
                && layer % moe.get().layerStride() == 0;
    }

    /** The gate function of a feed-forward block (k3-model.md 3.8). */
    public sealed interface Activation {
        /**
         * b1 tanh(g/b1) sig(g) times b2 tanh(u/b2).
         *
         * @param gateCap b1, above 0
         * @param upCap b2; 0 leaves the up branch uncapped
         */
        record Situ(float gateCap, float upCap) implements Activation {}

        /** g sig(g) times u. */
        record Silu() implements Activation {}
    }

    /**
     * Linear attention (k3-model.md 1.3).
     *
     * @param layers zero-based layers that are KDA
     * @param heads number of heads [N]
     * @param headDim key and value width of a head [D]
     * @param convKernel rows of the short convolution [W]
     * @param decay how the decay is formed
     * @param fullRankGate whether the output gate is one matrix; if not, it is a product of two with headDim between
     */
    public record Kda(Set<Integer> layers, int heads, int headDim, int convKernel, Decay decay, boolean fullRankGate) {
        public Kda {
            layers = Set.copyOf(layers);
        }

        /** Width of q, k, v and of the gate [P]. */
        public int size() {
            return heads * headDim;
        }
    }

    /** The decay of linear attention (k3-model.md 3.5.4). */
    public sealed interface Decay {
        /** g = bound * sig(exp(A) z), -5 <= bound < 0. */
        record Bounded(float bound) implements Decay {}

        /** g = -exp(A) softplus(z). */
        record Softplus() implements Decay {}
    }

    /**
     * Latent attention (k3-model.md 1.2).
     *
     * @param heads number of heads [A]
     * @param queryRank bottleneck of the query [Rq]; empty: one full matrix
     * @param latentRank width of the cached latent [Rc]
     * @param contentDim key width of a head that comes from the latent [dn]
     * @param extraDim key width that all heads share, unrotated [dr]
     * @param valueDim value width of a head [dv]
     * @param outputGate whether the output is gated
     */
    public record Mla(
            int heads,
            OptionalInt queryRank,
            int latentRank,
            int contentDim,
            int extraDim,
            int valueDim,
            boolean outputGate) {
        /** Query width of a head [dq]. */
        public int queryDim() {
            return contentDim + extraDim;
        }

        /** Values cached for one position: the normed latent and the shared key. */
        public int cacheSize() {
            return latentRank + extraDim;
        }
    }

    /**
     * Routed experts (k3-model.md 1.2, 3.9).
     *
     * @param experts experts of a layer [E]
     * @param perToken experts a token uses [k], at most E
     * @param expertSize inner width of an expert [F]
     * @param latent width that experts act on [Z]; empty: they act on H
     * @param sharedExperts how many experts' width the always-active block has; 0: there is none
     * @param firstLayer layers below are dense
     * @param layerStride only layers divisible by it are MoE
     * @param scores how scores come from router logits
     * @param renormalize whether the weights of the chosen experts are divided by their sum
     * @param scale factor on the weights
     * @param groups group-limited choice; empty: all experts compete
     */
    public record Moe(
            int experts,
            int perToken,
            int expertSize,
            Optional<Latent> latent,
            int sharedExperts,
            int firstLayer,
            int layerStride,
            RouterScores scores,
            boolean renormalize,
            float scale,
            Optional<Groups> groups) {
        /** Width of the always-active block [Fs]. */
        public int sharedSize() {
            return expertSize * sharedExperts;
        }
    }

    /**
     * Experts act on a projection of the residual stream.
     *
     * @param size its width [Z]
     * @param norm whether the weighted sum of the experts is normed before it is projected back
     */
    public record Latent(int size, boolean norm) {}

    /**
     * Only experts of the best groups may be chosen.
     *
     * @param count groups; divides the number of experts into at least two each
     * @param kept groups that stay, below {@code count}
     */
    public record Groups(int count, int kept) {}

    /** How scores come from router logits. */
    public enum RouterScores {
        SIGMOID,
        SOFTMAX
    }

    /** Ids the config names; each may be absent. Which ids end an answer is told by {@link Checkpoint#eosIds}. */
    public record TokenIds(OptionalInt bos, List<Integer> eos, OptionalInt pad) {
        public TokenIds {
            eos = List.copyOf(eos);
        }
    }
}
