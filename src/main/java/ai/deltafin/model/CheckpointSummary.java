package ai.deltafin.model;

import ai.deltafin.model.K3Layout.DenseTensors;
import ai.deltafin.model.K3Layout.KdaGate;
import ai.deltafin.model.K3Layout.KdaTensors;
import ai.deltafin.model.K3Layout.LayerTensors;
import ai.deltafin.model.K3Layout.Mix;
import ai.deltafin.model.K3Layout.MlaQuery;
import ai.deltafin.model.K3Layout.MlaTensors;
import ai.deltafin.model.K3Layout.MoeTensors;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Sizes of a text model (k3-model.md 4.2, 5), summed over the tensors it really has. The spine is everything that every
 * token reads: all but the embedding and the routed experts.
 *
 * @param parameters all weights; padding of A_log counts as stored
 * @param embedBytes the embedding; a tied head reads it too and then it counts as spine instead
 * @param spineBytes layers without routed experts, norms, head: resident, and read once for each decoded token
 * @param expertBytes all routed experts
 * @param embedBytesPerToken one embedding row
 * @param expertBytesPerToken routed experts that one decoded token reads
 * @param stateBytes fp32 session state that does not grow: KDA states and convolution windows
 * @param stateBytesPerPosition fp32 latent cache that each position adds
 */
public record CheckpointSummary(
        long parameters,
        long embedBytes,
        long spineBytes,
        long expertBytes,
        long embedBytesPerToken,
        long expertBytesPerToken,
        long stateBytes,
        long stateBytesPerPosition) {

    private static final long F32_BYTES = 4;

    /** Sums up a checkpoint. */
    public static CheckpointSummary of(Checkpoint checkpoint) {
        K3Config config = checkpoint.config();
        K3Layout layout = checkpoint.layout();
        List<Size> spine = spine(layout).toList();
        long spineBytes = spine.stream().mapToLong(Size::bytes).sum();
        Size embed = Size.of(layout.embed());
        List<ExpertTable> experts = layout.layers().stream()
                .map(layer -> layer.ffn() instanceof MoeTensors moe ? moe.experts() : null)
                .filter(Objects::nonNull)
                .toList();
        boolean tied = layout.lmHead().equals(layout.embed());
        return new CheckpointSummary(
                spine.stream().mapToLong(Size::elements).sum()
                        + (tied ? 0 : embed.elements())
                        + experts.size() * expertParameters(config),
                tied ? 0 : embed.bytes(),
                spineBytes,
                experts.stream().mapToLong(t -> t.experts() * t.expertBytes()).sum(),
                embed.bytes() / config.vocabSize(),
                config.moe().map(K3Config.Moe::perToken).orElse(0)
                        * experts.stream().mapToLong(ExpertTable::expertBytes).sum(),
                stateBytes(config),
                positionBytes(config));
    }

    private static long expertParameters(K3Config config) {
        return config.moe()
                .map(moe -> 3L
                        * moe.experts()
                        * moe.expertSize()
                        * moe.latent().map(K3Config.Latent::size).orElse(config.hiddenSize()))
                .orElse(0L);
    }

    /** S [N, D, D] and the last W - 1 raw rows of q, k and v for each KDA layer (k3-model.md 4.1). */
    private static long stateBytes(K3Config config) {
        return config.kda()
                .map(kda ->
                        kda.layers().size() * F32_BYTES * kda.size() * (kda.headDim() + 3L * (kda.convKernel() - 1)))
                .orElse(0L);
    }

    private static long positionBytes(K3Config config) {
        int kdaLayers = config.kda().map(kda -> kda.layers().size()).orElse(0);
        return (config.layers() - kdaLayers) * F32_BYTES * config.mla().cacheSize();
    }

    /** Elements and stored bytes of a tensor or matrix. */
    private record Size(long elements, long bytes) {
        static Size of(TensorInfo tensor) {
            return new Size(tensor.elements(), tensor.bytes());
        }

        static Size of(Matrix matrix) {
            return new Size(matrix.rows() * matrix.cols(), matrix.bytes());
        }
    }

    private static Stream<Size> spine(K3Layout layout) {
        return Stream.of(
                        Stream.of(Size.of(layout.lmHead()), Size.of(layout.norm())),
                        layout.outputMix().stream().flatMap(CheckpointSummary::mix),
                        layout.layers().stream().flatMap(CheckpointSummary::layer))
                .flatMap(sizes -> sizes);
    }

    private static Stream<Size> mix(Mix mix) {
        return Stream.of(Size.of(mix.norm()), Size.of(mix.proj()));
    }

    private static Stream<Size> layer(LayerTensors layer) {
        Stream<Size> attention = switch (layer.attention()) {
            case KdaTensors kda -> kda(kda);
            case MlaTensors mla -> mla(mla);
        };
        Stream<Size> ffn = switch (layer.ffn()) {
            case DenseTensors dense -> gated(dense);
            case MoeTensors moe -> moe(moe);
        };
        return Stream.of(
                        Stream.of(Size.of(layer.inputNorm()), Size.of(layer.postNorm())),
                        layer.attnMix().stream().flatMap(CheckpointSummary::mix),
                        layer.mlpMix().stream().flatMap(CheckpointSummary::mix),
                        attention,
                        ffn)
                .flatMap(sizes -> sizes);
    }

    private static Stream<Size> kda(KdaTensors kda) {
        Stream<Matrix> gate = switch (kda.gate()) {
            case KdaGate.Full full -> Stream.of(full.g());
            case KdaGate.LowRank low -> Stream.of(low.down(), low.up());
        };
        Stream<Matrix> matrices =
                Stream.of(kda.q(), kda.k(), kda.v(), kda.o(), kda.decayDown(), kda.decayUp(), kda.beta());
        Stream<TensorInfo> vectors =
                Stream.of(kda.qConv(), kda.kConv(), kda.vConv(), kda.aLog(), kda.dtBias(), kda.oNorm());
        return Stream.concat(Stream.concat(matrices, gate).map(Size::of), vectors.map(Size::of));
    }

    private static Stream<Size> mla(MlaTensors mla) {
        Stream<Size> query = switch (mla.query()) {
            case MlaQuery.Full full -> Stream.of(Size.of(full.q()));
            case MlaQuery.LowRank low -> Stream.of(Size.of(low.down()), Size.of(low.norm()), Size.of(low.up()));
        };
        Stream<Size> rest =
                Stream.of(Size.of(mla.kvDown()), Size.of(mla.kvNorm()), Size.of(mla.kvUp()), Size.of(mla.o()));
        return Stream.concat(Stream.concat(query, rest), mla.gate().stream().map(Size::of));
    }

    private static Stream<Size> gated(DenseTensors dense) {
        return Stream.of(dense.gate(), dense.up(), dense.down()).map(Size::of);
    }

    private static Stream<Size> moe(MoeTensors moe) {
        Stream<Size> latent = moe.latent().stream()
                .flatMap(l -> Stream.concat(
                        Stream.of(Size.of(l.down()), Size.of(l.up())),
                        l.norm().stream().map(Size::of)));
        return Stream.of(
                        Stream.of(Size.of(moe.router()), Size.of(moe.bias())),
                        latent,
                        moe.shared().stream().flatMap(CheckpointSummary::gated))
                .flatMap(sizes -> sizes);
    }
}
