package ai.deltafin.model;

import ai.deltafin.model.K3Config.Kda;
import ai.deltafin.model.K3Config.Mla;
import ai.deltafin.model.K3Config.Moe;
import ai.deltafin.model.K3Layout.Attention;
import ai.deltafin.model.K3Layout.DenseTensors;
import ai.deltafin.model.K3Layout.Ffn;
import ai.deltafin.model.K3Layout.KdaGate;
import ai.deltafin.model.K3Layout.KdaTensors;
import ai.deltafin.model.K3Layout.LatentTensors;
import ai.deltafin.model.K3Layout.LayerTensors;
import ai.deltafin.model.K3Layout.Mix;
import ai.deltafin.model.K3Layout.MlaQuery;
import ai.deltafin.model.K3Layout.MlaTensors;
import ai.deltafin.model.K3Layout.MoeTensors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Puts every tensor in its place: the table of k3-model.md 2.2 as code. What the config asks for must be there, and what is
 * there must be asked for: a tensor that nobody would read is a model that somebody else computes differently.
 */
final class LayoutBuilder {
    private static final String CURE = "config.json and the tensors belong to different models";

    private final Path directory;
    private final K3Config config;
    private final TensorCatalog catalog;
    private final Set<String> used = new HashSet<>();
    private String prefix = "";

    LayoutBuilder(Path directory, K3Config config, TensorCatalog catalog) {
        this.directory = directory;
        this.config = config;
        this.catalog = catalog;
    }

    K3Layout build() {
        long h = config.hiddenSize();
        long v = config.vocabSize();
        prefix = "";
        var embed = plain("model.embed_tokens.weight", v, h);
        Matrix head = config.tiedEmbeddings() ? tiedHead(embed) : matrix("lm_head.weight", v, h);
        TensorInfo norm = vector("model.norm.weight", h);
        Optional<Mix> outputMix = mix("model.output_attn_res");
        List<LayerTensors> layers = new ArrayList<>();
        for (int l = 0; l < config.layers(); l++) {
            layers.add(layer(l));
        }
        checkAllUsed();
        return new K3Layout(embed, head, norm, outputMix, layers);
    }

    /** Some exports of tied models store the head a second time; {@link Checkpoint} checks that it is the same. */
    private Matrix tiedHead(Matrix.Plain embed) {
        if (catalog.find("lm_head.weight").isPresent()) {
            plain("lm_head.weight", embed.rows(), embed.cols());
        }
        return embed;
    }

    private LayerTensors layer(int l) {
        prefix = "model.layers." + l + ".";
        long h = config.hiddenSize();
        TensorInfo inputNorm = vector("input_layernorm.weight", h);
        TensorInfo postNorm = vector("post_attention_layernorm.weight", h);
        Optional<Mix> attnMix = mix("self_attention_res");
        Optional<Mix> mlpMix = mix("mlp_res");
        prefix = "model.layers." + l + ".self_attn.";
        Attention attention = config.isKda(l) ? kda(config.kda().orElseThrow()) : mla(config.mla());
        Ffn ffn = config.isMoe(l) ? moe(l, config.moe().orElseThrow()) : dense(l);
        return new LayerTensors(inputNorm, postNorm, attnMix, mlpMix, attention, ffn);
    }

    private Optional<Mix> mix(String name) {
        long h = config.hiddenSize();
        return config.attnResBlock().isEmpty()
                ? Optional.empty()
                : Optional.of(new Mix(vector(name + "_norm.weight", h), tensor(name + "_proj.weight", 1, h)));
    }

    private KdaTensors kda(Kda kda) {
        long h = config.hiddenSize();
        long p = kda.size();
        long d = kda.headDim();
        return new KdaTensors(
                matrix("q_proj.weight", p, h),
                matrix("k_proj.weight", p, h),
                matrix("v_proj.weight", p, h),
                matrix("o_proj.weight", h, p),
                matrix("f_a_proj.weight", d, h),
                matrix("f_b_proj.weight", p, d),
                matrix("b_proj.weight", kda.heads(), h),
                kda.fullRankGate()
                        ? new KdaGate.Full(matrix("g_proj.weight", p, h))
                        : new KdaGate.LowRank(matrix("g_a_proj.weight", d, h), matrix("g_b_proj.weight", p, d)),
                convolution("q_conv1d.weight", kda),
                convolution("k_conv1d.weight", kda),
                convolution("v_conv1d.weight", kda),
                decayScale(kda.heads()),
                exact("dt_bias", p),
                exact("o_norm.weight", d));
    }

    private TensorInfo convolution(String name, Kda kda) {
        long p = kda.size();
        long w = kda.convKernel();
        TensorInfo found = float32(require(name));
        if (!found.shape().equals(List.of(p, 1L, w)) && !found.shape().equals(List.of(p, w))) {
            throw wrongShape(found, "[" + p + ", 1, " + w + "] or [" + p + ", " + w + "]");
        }
        return found;
    }

    /** A_log as [N], [1, 1, N, 1], or longer; the loader checks that what is longer is zero. */
    private TensorInfo decayScale(long heads) {
        TensorInfo found = float32(require("A_log"));
        List<Long> shape = found.shape();
        boolean flat = shape.size() == 1 && shape.getFirst() >= heads;
        if (!flat && !shape.equals(List.of(1L, 1L, heads, 1L))) {
            throw wrongShape(found, "[" + heads + "], [1, 1, " + heads + ", 1] or longer with zeros behind");
        }
        return found;
    }

    private MlaTensors mla(Mla mla) {
        long h = config.hiddenSize();
        long a = mla.heads();
        long outputs = a * mla.valueDim();
        return new MlaTensors(
                query(mla),
                matrix("kv_a_proj_with_mqa.weight", mla.cacheSize(), h),
                vector("kv_a_layernorm.weight", mla.latentRank()),
                plain("kv_b_proj.weight", a * (mla.contentDim() + mla.valueDim()), mla.latentRank()),
                mla.outputGate() ? Optional.of(matrix("g_proj.weight", outputs, h)) : Optional.empty(),
                matrix("o_proj.weight", h, outputs));
    }

    private MlaQuery query(Mla mla) {
        long h = config.hiddenSize();
        long rows = (long) mla.heads() * mla.queryDim();
        if (mla.queryRank().isEmpty()) {
            return new MlaQuery.Full(matrix("q_proj.weight", rows, h));
        }
        long rank = mla.queryRank().getAsInt();
        return new MlaQuery.LowRank(
                matrix("q_a_proj.weight", rank, h),
                vector("q_a_layernorm.weight", rank),
                matrix("q_b_proj.weight", rows, rank));
    }

    private DenseTensors dense(int l) {
        prefix = "model.layers." + l + ".mlp.";
        return gated("", config.denseSize());
    }

    private DenseTensors gated(String name, long width) {
        long h = config.hiddenSize();
        return new DenseTensors(
                matrix(name + "gate_proj.weight", width, h),
                matrix(name + "up_proj.weight", width, h),
                matrix(name + "down_proj.weight", h, width));
    }

    private MoeTensors moe(int l, Moe moe) {
        prefix = "model.layers." + l + ".block_sparse_moe.";
        return new MoeTensors(
                plain("gate.weight", moe.experts(), config.hiddenSize()),
                exact("gate.e_score_correction_bias", moe.experts()),
                moe.latent().map(this::latent),
                moe.sharedExperts() == 0 ? Optional.empty() : Optional.of(gated("shared_experts.", moe.sharedSize())),
                catalog.experts(l)
                        .orElseThrow(() -> missing("experts.0.w1.weight" + (config.mxfp4() ? "_packed" : "")))
                        .table(directory));
    }

    private LatentTensors latent(K3Config.Latent latent) {
        long h = config.hiddenSize();
        long z = latent.size();
        return new LatentTensors(
                matrix("routed_expert_down_proj.weight", z, h),
                latent.norm() ? Optional.of(vector("routed_expert_norm.weight", z)) : Optional.empty(),
                matrix("routed_expert_up_proj.weight", h, z));
    }

    /** A matrix by the names present: plain, or an MXFP4 pair (k3-model.md 1.4). */
    private Matrix matrix(String name, long rows, long cols) {
        if (catalog.find(prefix + name).isPresent()
                || catalog.find(prefix + name + "_packed").isEmpty()) {
            return plain(name, rows, cols);
        }
        TensorInfo packed = require(name + "_packed");
        if (!config.mxfp4()) {
            throw ModelException.mismatch(
                    packed.file(),
                    packed.name(),
                    "a plain weight, since config.json has no quantization_config",
                    "a packed one",
                    CURE);
        }
        if (cols % Mxfp4.GROUP != 0) {
            throw ModelException.mismatch(
                    packed.file(), packed.name(), "columns in multiples of 32 for MXFP4", cols, CURE);
        }
        return new Matrix.Mxfp4(
                bytes(packed, rows, cols / Mxfp4.PACKED),
                bytes(require(name + "_scale"), rows, cols / Mxfp4.GROUP),
                rows,
                cols);
    }

    private TensorInfo bytes(TensorInfo found, long rows, long cols) {
        if (found.dtype() != DType.U8) {
            throw wrongType(found, "U8");
        }
        return shaped(found, rows, cols);
    }

    private Matrix.Plain plain(String name, long rows, long cols) {
        return new Matrix.Plain(tensor(name, rows, cols), rows, cols);
    }

    private TensorInfo vector(String name, long size) {
        return tensor(name, size);
    }

    /** A tensor released as BF16; F32 holds every BF16 value, so it may be that too. */
    private TensorInfo tensor(String name, long... shape) {
        TensorInfo found = require(name);
        if (found.dtype() != DType.BF16 && found.dtype() != DType.F32) {
            throw wrongType(found, "BF16 or F32");
        }
        return shaped(found, shape);
    }

    /** A tensor released as F32. BF16 would have lost bits that decide decays and routes (k3-model.md 8.17). */
    private TensorInfo exact(String name, long size) {
        return shaped(float32(require(name)), size);
    }

    private static TensorInfo float32(TensorInfo found) {
        if (found.dtype() != DType.F32) {
            throw wrongType(found, "F32");
        }
        return found;
    }

    private static TensorInfo shaped(TensorInfo found, long... shape) {
        List<Long> expected = java.util.Arrays.stream(shape).boxed().toList();
        if (!found.shape().equals(expected)) {
            throw wrongShape(found, expected.toString());
        }
        return found;
    }

    private TensorInfo require(String name) {
        used.add(prefix + name);
        return catalog.find(prefix + name).orElseThrow(() -> missing(name));
    }

    private ModelException missing(String name) {
        return ModelException.mismatch(
                directory,
                prefix + name,
                "in a shard",
                "no such tensor",
                "download the model again, or check that config.json belongs to it");
    }

    private static ModelException wrongType(TensorInfo found, String expected) {
        return ModelException.mismatch(
                found.file(), found.name(), "dtype " + expected, found.dtype(), "use the released weights");
    }

    private static ModelException wrongShape(TensorInfo found, String expected) {
        return ModelException.mismatch(found.file(), found.name(), "shape " + expected, found.shape(), CURE);
    }

    private void checkAllUsed() {
        Set<String> left = new TreeSet<>(catalog.tensors().keySet());
        left.removeAll(used);
        left.removeIf(TensorCatalog::isVision);
        if (!left.isEmpty()) {
            String name = left.iterator().next();
            TensorInfo extra = catalog.find(name).orElseThrow();
            throw ModelException.mismatch(
                    extra.file(),
                    extra.name(),
                    "only tensors that config.json asks for",
                    left.size() + " more, this one first",
                    CURE);
        }
    }
}
