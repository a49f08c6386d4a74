package ai.deltafin.model;

import ai.deltafin.model.K3Config.Activation;
import ai.deltafin.model.K3Config.Decay;
import ai.deltafin.model.K3Config.Groups;
import ai.deltafin.model.K3Config.Kda;
import ai.deltafin.model.K3Config.Latent;
import ai.deltafin.model.K3Config.Mla;
import ai.deltafin.model.K3Config.Moe;
import ai.deltafin.model.K3Config.RouterScores;
import ai.deltafin.model.K3Config.TokenIds;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Reads config.json by the rules of k3-model.md 1: fields that change nothing are passed over, everything else is either
 * understood or refused by name.
 */
final class ConfigReader {
    private static final long MAX_FILE_BYTES = 16L << 20;

    /** Keeps every product of dimensions an int, and tables of layers and experts small. */
    private static final int MAX_PRODUCT = 1 << 28;

    private static final int MAX_LAYERS = 4096;
    private static final int MAX_EXPERTS = 1 << 20;

    private final ConfigFields root;
    private final ConfigFields text;

    private ConfigReader(ConfigFields root, ConfigFields text) {
        this.root = root;
        this.text = text;
    }

    static K3Config read(Path file) {
        var root = new ConfigFields(file, "", ModelJson.object(file, MAX_FILE_BYTES));
        checkArchitecture(root);
        Optional<ConfigFields> nested = root.section("text_config");
        if (nested.isPresent()) {
            root.oneOf("model_type", List.of("kimi_k3"));
        }
        ConfigFields text = nested.orElse(root);
        text.oneOf("model_type", List.of("kimi_linear"));
        return new ConfigReader(root, text).config();
    }

    private static void checkArchitecture(ConfigFields root) {
        var known = List.of("KimiK3ForConditionalGeneration", "KimiLinearForCausalLM");
        root.texts("architectures").ifPresent(found -> {
            if (found.stream().noneMatch(known::contains)) {
                throw root.refuse("architectures", "one of " + known, found.toString());
            }
        });
    }

    private K3Config config() {
        root.oneOfIfPresent("dtype", List.of("bfloat16", "float32"));
        text.oneOfIfPresent("dtype", List.of("bfloat16", "float32"));
        int layers = text.wholeNumber("num_hidden_layers", 1, MAX_LAYERS);
        int vocabSize = text.dimension("vocab_size");
        int hiddenSize = text.dimension("hidden_size");
        boolean mxfp4 = quantised();
        Optional<Moe> moe = text.has("num_experts") ? Optional.of(moe(layers)) : Optional.empty();
        if (mxfp4) {
            moe.ifPresent(m -> checkGroups(m, hiddenSize));
        }
        return new K3Config(
                hiddenSize,
                vocabSize,
                layers,
                text.dimension("intermediate_size"),
                text.positive("rms_norm_eps"),
                activation(),
                text.optionalDimension("attn_res_block_size"),
                text.section("linear_attn_config").map(section -> kda(section, layers)),
                mla(),
                moe,
                tied(),
                mxfp4,
                tokens(vocabSize));
    }

    private Activation activation() {
        if (text.oneOf("hidden_act", List.of("situ", "silu")).equals("silu")) {
            return new Activation.Silu();
        }
        return new Activation.Situ(
                gateCap(), text.has("activation_situ_linear_beta") ? text.positive("activation_situ_linear_beta") : 0);
    }

    /** b1; null and 0 mean 1. */
    private float gateCap() {
        String name = "activation_situ_beta";
        if (!text.has(name) || text.number(name, "a number, 0 or null") == 0) {
            return 1;
        }
        return text.positive(name);
    }

    private Kda kda(ConfigFields linear, int layers) {
        List<Integer> oneBased = linear.distinct("kda_layers", 1, layers);
        if (linear.has("full_attn_layers")) {
            checkPartition(linear, oneBased, linear.distinct("full_attn_layers", 1, layers), layers);
        }
        int heads = linear.dimension("num_heads");
        int headDim = linear.dimension("head_dim");
        checkProduct(linear, "num_heads", heads, headDim);
        return new Kda(
                oneBased.stream().map(l -> l - 1).collect(Collectors.toUnmodifiableSet()),
                heads,
                headDim,
                linear.dimension("short_conv_kernel_size"),
                decay(linear),
                linear.flagOrFalse("use_full_rank_gate"));
    }

    private static void checkPartition(ConfigFields linear, List<Integer> kda, List<Integer> full, int layers) {
        Set<Integer> both = new HashSet<>(kda);
        both.retainAll(full);
        if (!both.isEmpty()) {
            throw linear.refuse(
                    "full_attn_layers", "the layers that kda_layers leaves out", "layers in both lists: " + both);
        }
        Set<Integer> neither = IntStream.rangeClosed(1, layers).boxed().collect(Collectors.toSet());
        kda.forEach(neither::remove);
        full.forEach(neither::remove);
        if (!neither.isEmpty()) {
            throw linear.refuse(
                    "full_attn_layers",
                    "the layers that kda_layers leaves out",
                    "layers in neither list: "
                            + neither.stream().sorted().limit(10).toList());
        }
    }

    private static Decay decay(ConfigFields linear) {
        String name = "gate_lower_bound";
        if (!linear.has(name)) {
            return new Decay.Softplus();
        }
        String supported = "null or a number from -5 to below 0";
        float bound = linear.number(name, supported);
        if (bound < -5 || bound >= 0) {
            throw linear.refuse(name, supported, String.valueOf(bound));
        }
        return new Decay.Bounded(bound);
    }

    private Mla mla() {
        int heads = text.dimension("num_attention_heads");
        int keyHeads = text.wholeNumber("num_key_value_heads", 1, ConfigFields.MAX_DIMENSION, heads);
        if (keyHeads != heads) {
            throw text.refuse("num_key_value_heads", heads + ", as num_attention_heads", String.valueOf(keyHeads));
        }
        if (!text.flag("mla_use_nope")) {
            throw text.refuse("mla_use_nope", "true (no rotary embedding is defined for this model)", "false");
        }
        var mla = new Mla(
                heads,
                text.optionalDimension("q_lora_rank"),
                text.dimension("kv_lora_rank"),
                text.dimension("qk_nope_head_dim"),
                text.dimension("qk_rope_head_dim"),
                text.dimension("v_head_dim"),
                text.flagOrFalse("mla_use_output_gate"));
        checkProduct(text, "num_attention_heads", heads, (long) mla.queryDim() + mla.valueDim());
        return mla;
    }

    private Moe moe(int layers) {
        int experts = text.wholeNumber("num_experts", 1, MAX_EXPERTS);
        if ((long) experts * layers > MAX_EXPERTS) {
            throw text.refuse(
                    "num_experts",
                    "at most " + MAX_EXPERTS + " experts in all layers",
                    experts + " in each of " + layers);
        }
        int expertSize = text.dimension("moe_intermediate_size");
        int shared = text.wholeNumber("num_shared_experts", 0, ConfigFields.MAX_DIMENSION, 0);
        checkProduct(text, "num_shared_experts", shared, expertSize);
        int perToken = text.wholeNumber("num_experts_per_token", 1, experts);
        OptionalInt latent = text.optionalDimension("routed_expert_hidden_size");
        String scores = text.oneOf("moe_router_activation_func", List.of("sigmoid", "softmax"));
        return new Moe(
                experts,
                perToken,
                expertSize,
                latent.isPresent()
                        ? Optional.of(new Latent(latent.getAsInt(), text.flag("latent_moe_use_norm")))
                        : Optional.empty(),
                shared,
                text.wholeNumber("first_k_dense_replace", 0, MAX_LAYERS),
                text.wholeNumber("moe_layer_freq", 1, MAX_LAYERS),
                scores.equals("softmax") ? RouterScores.SOFTMAX : RouterScores.SIGMOID,
                text.flag("moe_renormalize") && perToken > 1,
                text.positive("routed_scaling_factor"),
                groups(experts, perToken));
    }

    /** Group limiting is active only where fewer groups are kept than there are (k3-model.md 1.2). */
    private Optional<Groups> groups(int experts, int perToken) {
        text.oneOfIfPresent("topk_method", List.of("noaux_tc"));
        int count = text.wholeNumber("num_expert_group", 1, experts, 1);
        int kept = text.wholeNumber("topk_group", 1, ConfigFields.MAX_DIMENSION, 1);
        if (count == 1 || count <= kept) {
            return Optional.empty();
        }
        if (text.mentions("use_grouped_topk") && !text.flagOrFalse("use_grouped_topk")) {
            throw text.refuse("use_grouped_topk", "true, since num_expert_group is " + count, "false");
        }
        if (experts % count != 0 || experts / count < 2) {
            throw text.refuse(
                    "num_expert_group",
                    "a divisor of num_experts that leaves at least two experts a group",
                    count + " groups of " + experts + " experts");
        }
        if ((long) kept * (experts / count) < perToken) {
            throw text.refuse(
                    "topk_group",
                    "enough groups to hold num_experts_per_token (" + perToken + ")",
                    kept + " groups of " + experts / count);
        }
        return Optional.of(new Groups(count, kept));
    }

    private boolean tied() {
        String name = "tie_word_embeddings";
        boolean outer = root.flagOrFalse(name);
        if (root.has(name) && text.has(name) && outer != text.flag(name)) {
            throw text.refuse(name, "the same value as at the root (" + outer + ")", String.valueOf(!outer));
        }
        return outer || text.flagOrFalse(name);
    }

    private TokenIds tokens(int vocabSize) {
        return new TokenIds(id("bos_token_id", vocabSize), eos(vocabSize), id("pad_token_id", vocabSize));
    }

    private List<Integer> eos(int vocabSize) {
        List<Integer> outer = root.ids("eos_token_id", vocabSize);
        return outer.isEmpty() ? text.ids("eos_token_id", vocabSize) : outer;
    }

    private OptionalInt id(String name, int vocabSize) {
        ConfigFields at = root.has(name) ? root : text;
        return at.has(name) ? OptionalInt.of(at.wholeNumber(name, 0, vocabSize - 1)) : OptionalInt.empty();
    }

    /** Checks quantization_config where there is one (k3-model.md 1.4); which tensor is packed is told by the tensors. */
    private boolean quantised() {
        String name = "quantization_config";
        Optional<ConfigFields> found = text.section(name).or(() -> root.section(name));
        found.ifPresent(ConfigReader::checkQuantisation);
        return found.isPresent();
    }

    private static void checkQuantisation(ConfigFields q) {
        q.oneOf("quant_method", List.of("compressed-tensors"));
        q.oneOf("format", List.of("mxfp4-pack-quantized"));
        q.oneOfIfPresent("quantization_status", List.of("compressed"));
        q.mustBeUnset("kv_cache_scheme");
        ConfigFields groups = q.section("config_groups")
                .orElseThrow(() -> q.refuse("config_groups", "an object with one group", "no such field"));
        if (groups.names().size() != 1) {
            throw q.refuse("config_groups", "one group", groups.names().toString());
        }
        ConfigFields group = groups.section(groups.names().getFirst())
                .orElseThrow(() -> q.refuse("config_groups", "an object with one group", "null"));
        group.oneOfIfPresent("format", List.of("mxfp4-pack-quantized"));
        group.mustBeUnset("input_activations");
        group.mustBeUnset("output_activations");
        ConfigFields weights =
                group.section("weights").orElseThrow(() -> group.refuse("weights", "an object", "no such field"));
        weights.wholeNumber("num_bits", 4, 4);
        weights.oneOf("type", List.of("float"));
        weights.oneOf("strategy", List.of("group"));
        weights.wholeNumber("group_size", Mxfp4.GROUP, Mxfp4.GROUP);
        if (!weights.flag("symmetric")) {
            throw weights.refuse("symmetric", "true", "false");
        }
        if (weights.flagOrFalse("dynamic")) {
            throw weights.refuse("dynamic", "false", "true");
        }
        weights.oneOfIfPresent("scale_dtype", List.of("torch.uint8", "uint8"));
        weights.mustBeUnset("zp_dtype");
        weights.mustBeUnset("actorder");
        weights.mustBeUnset("block_structure");
    }

    private void checkGroups(Moe moe, int hiddenSize) {
        int width = moe.latent().map(Latent::size).orElse(hiddenSize);
        checkGroup(moe.latent().isPresent() ? "routed_expert_hidden_size" : "hidden_size", width);
        checkGroup("moe_intermediate_size", moe.expertSize());
    }

    private void checkGroup(String name, int size) {
        if (size % Mxfp4.GROUP != 0) {
            throw text.refuse(name, "a multiple of 32, since the weights are MXFP4", String.valueOf(size));
        }
    }

    private static void checkProduct(ConfigFields at, String name, long a, long b) {
        if (a * b > MAX_PRODUCT) {
            throw at.refuse(name, "a width of at most " + MAX_PRODUCT, a + " times " + b);
        }
    }
}
