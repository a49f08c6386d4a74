package ai.deltafin.model;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes small random checkpoints of any dimensions and every variant of the config, for tests. What it writes depends on
 * its settings and the seed alone. It states names, shapes and types of k3-model.md 2.2 a second time, apart from the
 * reader.
 *
 * <pre>{@code
 * Path dir = new TinyCheckpoint().set("num_hidden_layers", 3).kda(1, 3).seed(7).write(temporary);
 * }</pre>
 *
 * <p>Defaults: three layers (KDA dense, KDA MoE, MLA MoE), every dimension different and none a multiple of 64. Change any
 * field of text_config with {@link #set}, of linear_attn_config with {@link #setLinear}; {@link #edit} may do anything to
 * the whole config just before it is written. Tensors follow the config.
 */
public final class TinyCheckpoint {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String MODEL = "model.";

    /** How experts are written. */
    public enum Experts {
        MXFP4,
        BF16,
        F32
    }

    /** A tensor to be written: fill is called with its elements' buffer. */
    public record Tensor(String name, String dtype, long[] shape, Fill fill) {
        long bytes() {
            long elements = 1;
            for (long side : shape) {
                elements *= side;
            }
            return elements * (dtype.equals("BF16") ? 2 : dtype.equals("F32") ? 4 : 1);
        }
    }

    /** Writes a tensor's elements. */
    public interface Fill {
        /** Fills the buffer, little endian, to its end. */
        void into(ByteBuffer buffer, SplittableRandom random);
    }

    private final ObjectNode root = JSON.createObjectNode();
    private final ObjectNode text = JSON.createObjectNode();
    private final ObjectNode linear = JSON.createObjectNode();
    private long seed = 1;
    private Experts experts = Experts.MXFP4;
    private String prefix = "language_model.";
    private int shards = 2;
    private boolean index = true;
    private boolean sparse;
    private boolean storeHead;
    private Consumer<ObjectNode> edit = config -> {};
    private Consumer<Map<String, Tensor>> change = tensors -> {};

    /** The default shape. */
    public TinyCheckpoint() {
        root.putArray("architectures").add("KimiK3ForConditionalGeneration");
        root.put("model_type", "kimi_k3").put("dtype", "bfloat16");
        root.put("bos_token_id", 1).put("eos_token_id", 2).put("pad_token_id", 3);
        root.put("tie_word_embeddings", false);
        text.put("model_type", "kimi_linear").put("dtype", "bfloat16");
        text.put("vocab_size", 53)
                .put("hidden_size", 36)
                .put("num_hidden_layers", 3)
                .put("intermediate_size", 50);
        text.put("hidden_act", "situ").put("activation_situ_beta", 4.0).put("activation_situ_linear_beta", 25.0);
        text.put("rms_norm_eps", 1e-5).put("attn_res_block_size", 2);
        text.put("num_attention_heads", 3).put("num_key_value_heads", 3);
        text.put("q_lora_rank", 11)
                .put("kv_lora_rank", 13)
                .put("qk_nope_head_dim", 10)
                .put("qk_rope_head_dim", 6);
        text.put("v_head_dim", 14).put("mla_use_nope", true).put("mla_use_output_gate", true);
        text.put("num_experts", 6).put("num_experts_per_token", 2).put("moe_intermediate_size", 64);
        text.put("num_shared_experts", 1).put("routed_expert_hidden_size", 32).put("latent_moe_use_norm", true);
        text.put("first_k_dense_replace", 1).put("moe_layer_freq", 1);
        text.put("moe_router_activation_func", "sigmoid").put("moe_renormalize", true);
        text.put("routed_scaling_factor", 1.0).put("num_expert_group", 1).put("topk_group", 1);
        text.put("use_grouped_topk", true).put("topk_method", "noaux_tc");
        linear.put("num_heads", 3).put("head_dim", 12).put("short_conv_kernel_size", 4);
        linear.put("gate_lower_bound", -5.0).put("use_full_rank_gate", true);
        kda(1, 2);
    }

    /** Sets a field of text_config; null writes null, as the released config does. */
    public TinyCheckpoint set(String field, @org.jspecify.annotations.Nullable Object value) {
        text.set(field, JSON.valueToTree(value));
        return this;
    }

    /** Sets a field of linear_attn_config. */
    public TinyCheckpoint setLinear(String field, @org.jspecify.annotations.Nullable Object value) {
        linear.set(field, JSON.valueToTree(value));
        return this;
    }

    /** ONE-based numbers of the KDA layers, as the config counts; the others become full_attn_layers when written. */
    public TinyCheckpoint kda(int... oneBased) {
        ArrayNode layers = linear.putArray("kda_layers");
        IntStream.of(oneBased).forEach(layers::add);
        return this;
    }

    /** Seed of every value. */
    public TinyCheckpoint seed(long value) {
        seed = value;
        return this;
    }

    /** Format of the routed experts; anything but MXFP4 leaves quantization_config out. */
    public TinyCheckpoint experts(Experts value) {
        experts = value;
        return this;
    }

    /** A text-only export: no prefix, the fields of text_config at the root. */
    public TinyCheckpoint textOnly() {
        prefix = "";
        return this;
    }

    /** Number of files; one is written as model.safetensors. */
    public TinyCheckpoint shards(int value) {
        shards = value;
        return this;
    }

    /** Writes no index. */
    public TinyCheckpoint noIndex() {
        index = false;
        return this;
    }

    /** Writes headers only and lets the file system hold the values as holes: any size, all values zero. */
    public TinyCheckpoint sparse() {
        sparse = true;
        return this;
    }

    /** Stores lm_head although the embeddings are tied; as a copy of nothing, so the two differ. */
    public TinyCheckpoint storeTiedHead() {
        storeHead = true;
        return this;
    }

    /** Changes the whole config just before it is written; tensors are not affected. */
    public TinyCheckpoint edit(Consumer<ObjectNode> value) {
        edit = value;
        return this;
    }

    /** Changes the tensors, by name without prefix, just before they are written. */
    public TinyCheckpoint change(Consumer<Map<String, Tensor>> value) {
        change = value;
        return this;
    }

    /** Writes the checkpoint into a directory, which it returns. */
    public Path write(Path directory) {
        try {
            Files.createDirectories(directory);
            Map<String, Tensor> tensors = tensors();
            change.accept(tensors);
            Files.writeString(directory.resolve("config.json"), JSON.writeValueAsString(config()));
            writeShards(directory, tensors);
            return directory;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private ObjectNode config() {
        ObjectNode written = text.deepCopy();
        if (!text.has("linear_attn_config")) {
            ObjectNode attention = linear.deepCopy();
            ArrayNode full = attention.putArray("full_attn_layers");
            IntStream.rangeClosed(1, layers()).filter(l -> !isKda(l - 1)).forEach(full::add);
            written.set("linear_attn_config", attention);
        }
        if (experts == Experts.MXFP4) {
            written.set("quantization_config", quantisation());
        }
        ObjectNode config = root.deepCopy();
        if (prefix.isEmpty()) {
            config.setAll(written);
            config.putArray("architectures").add("KimiLinearForCausalLM");
        } else {
            config.set("text_config", written);
        }
        if (text.has("tie_word_embeddings")) {
            config.set("tie_word_embeddings", text.get("tie_word_embeddings"));
        }
        edit.accept(config);
        return config;
    }

    private static ObjectNode quantisation() {
        ObjectNode q = JSON.createObjectNode();
        q.put("quant_method", "compressed-tensors").put("format", "mxfp4-pack-quantized");
        q.put("quantization_status", "compressed").putNull("kv_cache_scheme");
        ObjectNode group = q.putObject("config_groups").putObject("group_0");
        group.put("format", "mxfp4-pack-quantized").putNull("input_activations").putNull("output_activations");
        ObjectNode weights = group.putObject("weights");
        weights.put("num_bits", 4).put("type", "float").put("strategy", "group").put("group_size", 32);
        weights.put("symmetric", true)
                .put("dynamic", false)
                .put("scale_dtype", "torch.uint8")
                .putNull("zp_dtype");
        return q;
    }

    private int layers() {
        return number("num_hidden_layers");
    }

    private int number(String field) {
        return has(field) ? text.get(field).intValue() : 0;
    }

    private boolean has(String field) {
        return text.has(field) && !text.get(field).isNull();
    }

    private boolean yes(String field) {
        return has(field) && text.get(field).booleanValue();
    }

    private boolean isKda(int layer) {
        if (text.has("linear_attn_config")) {
            return false;
        }
        for (var oneBased : linear.get("kda_layers")) {
            if (oneBased.intValue() == layer + 1) {
                return true;
            }
        }
        return false;
    }

    private Map<String, Tensor> tensors() {
        Map<String, Tensor> out = new LinkedHashMap<>();
        long h = number("hidden_size");
        long v = number("vocab_size");
        for (int l = 0; l < layers(); l++) {
            layer(out, l, h);
        }
        matrix(out, MODEL + "embed_tokens.weight", v, h, 1);
        if (!yes("tie_word_embeddings") || storeHead) {
            matrix(out, "lm_head.weight", v, h, 3 / Math.sqrt(h));
        }
        norm(out, MODEL + "norm.weight", h);
        mix(out, MODEL + "output_attn_res", h);
        return out;
    }

    private void layer(Map<String, Tensor> out, int l, long h) {
        String p = MODEL + "layers." + l + ".";
        norm(out, p + "input_layernorm.weight", h);
        norm(out, p + "post_attention_layernorm.weight", h);
        mix(out, p + "self_attention_res", h);
        mix(out, p + "mlp_res", h);
        if (isKda(l)) {
            kda(out, p + "self_attn.", h);
        } else {
            mla(out, p + "self_attn.", h);
        }
        boolean moe = has("num_experts") && l >= number("first_k_dense_replace") && l % number("moe_layer_freq") == 0;
        if (moe) {
            moe(out, p + "block_sparse_moe.", h);
        } else {
            gated(out, p + "mlp.", number("intermediate_size"), h);
        }
    }

    private void kda(Map<String, Tensor> out, String s, long h) {
        long n = linear.get("num_heads").intValue();
        long d = linear.get("head_dim").intValue();
        long w = linear.get("short_conv_kernel_size").intValue();
        long p = n * d;
        for (String name : List.of("q", "k", "v")) {
            linear(out, s + name + "_proj.weight", p, h, 1.3);
            float32(out, s + name + "_conv1d.weight", -1, 1, p, 1, w);
        }
        if (linear.path("use_full_rank_gate").asBoolean(false)) {
            linear(out, s + "g_proj.weight", p, h, 1.3);
        } else {
            linear(out, s + "g_a_proj.weight", d, h, 1);
            linear(out, s + "g_b_proj.weight", p, d, 1.5);
        }
        linear(out, s + "o_proj.weight", h, p, 2);
        linear(out, s + "f_a_proj.weight", d, h, 1);
        linear(out, s + "f_b_proj.weight", p, d, 1.5);
        linear(out, s + "b_proj.weight", n, h, 1);
        float32(out, s + "A_log", -0.5, 1, n);
        float32(out, s + "dt_bias", -3, 1, p);
        float32(out, s + "o_norm.weight", 0.8, 1.2, d);
    }

    private void mla(Map<String, Tensor> out, String s, long h) {
        long a = number("num_attention_heads");
        long dq = number("qk_nope_head_dim") + number("qk_rope_head_dim");
        long dv = number("v_head_dim");
        long rc = number("kv_lora_rank");
        if (has("q_lora_rank")) {
            long rq = number("q_lora_rank");
            linear(out, s + "q_a_proj.weight", rq, h, 1);
            norm(out, s + "q_a_layernorm.weight", rq);
            linear(out, s + "q_b_proj.weight", a * dq, rq, 1.5);
        } else {
            linear(out, s + "q_proj.weight", a * dq, h, 1.5);
        }
        linear(out, s + "kv_a_proj_with_mqa.weight", rc + number("qk_rope_head_dim"), h, 1);
        norm(out, s + "kv_a_layernorm.weight", rc);
        linear(out, s + "kv_b_proj.weight", a * (number("qk_nope_head_dim") + dv), rc, 1.5);
        if (yes("mla_use_output_gate")) {
            linear(out, s + "g_proj.weight", a * dv, h, 1);
        }
        linear(out, s + "o_proj.weight", h, a * dv, 2);
    }

    private void moe(Map<String, Tensor> out, String m, long h) {
        long e = number("num_experts");
        long f = number("moe_intermediate_size");
        boolean latent = has("routed_expert_hidden_size");
        long z = latent ? number("routed_expert_hidden_size") : h;
        linear(out, m + "gate.weight", e, h, 2);
        float32(out, m + "gate.e_score_correction_bias", -0.1, 0.1, e);
        if (latent) {
            linear(out, m + "routed_expert_down_proj.weight", z, h, 1);
            if (yes("latent_moe_use_norm")) {
                norm(out, m + "routed_expert_norm.weight", z);
            }
            linear(out, m + "routed_expert_up_proj.weight", h, z, 1);
        }
        if (number("num_shared_experts") > 0) {
            gated(out, m + "shared_experts.", f * number("num_shared_experts"), h);
        }
        for (int i = 0; i < e; i++) {
            expert(out, m + "experts." + i + ".w1.weight", f, z);
            expert(out, m + "experts." + i + ".w2.weight", z, f);
            expert(out, m + "experts." + i + ".w3.weight", f, z);
        }
    }

    private void expert(Map<String, Tensor> out, String name, long rows, long cols) {
        switch (experts) {
            case BF16 -> linear(out, name, rows, cols, 2);
            case F32 -> float32(out, name, -1 / Math.sqrt(cols), 1 / Math.sqrt(cols), rows, cols);
            case MXFP4 -> {
                bytes(out, name + "_packed", 0, 256, rows, cols / 2);
                bytes(out, name + "_scale", 119, 125, rows, cols / 32);
            }
        }
    }

    private void gated(Map<String, Tensor> out, String name, long width, long h) {
        linear(out, name + "gate_proj.weight", width, h, 2);
        linear(out, name + "up_proj.weight", width, h, 2);
        linear(out, name + "down_proj.weight", h, width, 2);
    }

    private void mix(Map<String, Tensor> out, String name, long h) {
        if (has("attn_res_block_size")) {
            norm(out, name + "_norm.weight", h);
            matrix(out, name + "_proj.weight", 1, h, 2 / Math.sqrt(h));
        }
    }

    private void linear(Map<String, Tensor> out, String name, long rows, long cols, double gain) {
        matrix(out, name, rows, cols, gain / Math.sqrt(cols));
    }

    private void matrix(Map<String, Tensor> out, String name, long rows, long cols, double deviation) {
        out.put(name, new Tensor(name, "BF16", new long[] {rows, cols}, (buffer, random) -> {
            while (buffer.hasRemaining()) {
                buffer.putShort(bf16(random.nextGaussian() * deviation));
            }
        }));
    }

    private void norm(Map<String, Tensor> out, String name, long size) {
        out.put(name, new Tensor(name, "BF16", new long[] {size}, (buffer, random) -> {
            while (buffer.hasRemaining()) {
                buffer.putShort(bf16(1 + 0.1 * random.nextGaussian()));
            }
        }));
    }

    private void float32(Map<String, Tensor> out, String name, double low, double high, long... shape) {
        out.put(name, new Tensor(name, "F32", shape, (buffer, random) -> {
            while (buffer.hasRemaining()) {
                buffer.putFloat((float) random.nextDouble(low, high));
            }
        }));
    }

    private static void bytes(Map<String, Tensor> out, String name, int low, int high, long... shape) {
        out.put(name, new Tensor(name, "U8", shape, (buffer, random) -> {
            while (buffer.hasRemaining()) {
                buffer.put((byte) random.nextInt(low, high));
            }
        }));
    }

    /** Nearest BF16, ties to even. */
    private static short bf16(double value) {
        int bits = Float.floatToRawIntBits((float) value);
        return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
    }

    private void writeShards(Path directory, Map<String, Tensor> tensors) throws IOException {
        List<Map.Entry<String, Tensor>> all = new ArrayList<>(tensors.entrySet());
        ObjectNode weightMap = JSON.createObjectNode();
        var random = new SplittableRandom(seed);
        int each = (all.size() + shards - 1) / shards;
        for (int i = 0; i < shards; i++) {
            String file = shards == 1 ? "model.safetensors" : "model-%05d-of-%06d.safetensors".formatted(i + 1, shards);
            var part = all.subList(Math.min(all.size(), i * each), Math.min(all.size(), (i + 1) * each));
            writeShard(directory.resolve(file), part, random);
            part.forEach(entry -> weightMap.put(named(entry.getKey()), file));
        }
        if (index) {
            ObjectNode written = JSON.createObjectNode();
            written.set("weight_map", weightMap);
            Files.writeString(directory.resolve("model.safetensors.index.json"), JSON.writeValueAsString(written));
        }
    }

    private String named(String bare) {
        return bare.startsWith("vision_tower.") ? bare : prefix + bare;
    }

    private void writeShard(Path file, List<Map.Entry<String, Tensor>> part, SplittableRandom random)
            throws IOException {
        ObjectNode header = JSON.createObjectNode();
        header.putObject("__metadata__").put("format", "pt");
        long at = 0;
        for (var entry : part) {
            Tensor tensor = entry.getValue();
            ObjectNode info = header.putObject(named(entry.getKey())).put("dtype", tensor.dtype());
            ArrayNode shape = info.putArray("shape");
            for (long side : tensor.shape()) {
                shape.add(side);
            }
            info.putArray("data_offsets").add(at).add(at + tensor.bytes());
            at += tensor.bytes();
        }
        byte[] json = JSON.writeValueAsBytes(header);
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write(ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(0, json.length)
                    .array());
            out.write(json);
            for (var entry : sparse ? List.<Map.Entry<String, Tensor>>of() : part) {
                Tensor tensor = entry.getValue();
                var buffer =
                        ByteBuffer.allocate(Math.toIntExact(tensor.bytes())).order(ByteOrder.LITTLE_ENDIAN);
                tensor.fill().into(buffer, random.split());
                out.write(buffer.array());
            }
        }
        if (sparse) {
            try (var holes = new RandomAccessFile(file.toFile(), "rw")) {
                holes.setLength(8 + json.length + at);
            }
        }
    }
}
