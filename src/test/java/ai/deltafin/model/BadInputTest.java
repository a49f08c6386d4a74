package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.deltafin.model.TinyCheckpoint.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

/** Each way a directory can be bad, and the parts that its one message must have. */
final class BadInputTest {
    private static final String INDEX = "model.safetensors.index.json";

    @TempDir
    Path temporary;

    private static void refused(Path directory, String... parts) {
        assertThatThrownBy(() -> Checkpoint.open(directory).close())
                .isInstanceOf(ModelException.class)
                .message()
                .contains(parts)
                .doesNotContain("\n");
    }

    private static Arguments config(String name, Consumer<ObjectNode> edit, String... parts) {
        return Arguments.of(name, edit, parts);
    }

    private static Consumer<ObjectNode> text(String field, Object value) {
        return root -> ((ObjectNode) root.get("text_config")).putPOJO(field, value);
    }

    private static Consumer<ObjectNode> without(String field) {
        return root -> ((ObjectNode) root.get("text_config")).remove(field);
    }

    private static ObjectNode linear(ObjectNode root) {
        return (ObjectNode) root.get("text_config").get("linear_attn_config");
    }

    private static ObjectNode weights(ObjectNode root) {
        return (ObjectNode) root.at("/text_config/quantization_config/config_groups/group_0/weights");
    }

    static Stream<Arguments> configs() {
        List<Arguments> all = new ArrayList<>();
        for (String dimension : List.of(
                "hidden_size",
                "vocab_size",
                "num_hidden_layers",
                "intermediate_size",
                "rms_norm_eps",
                "hidden_act",
                "num_attention_heads",
                "kv_lora_rank",
                "qk_nope_head_dim",
                "qk_rope_head_dim",
                "v_head_dim",
                "mla_use_nope",
                "num_experts_per_token",
                "moe_intermediate_size",
                "first_k_dense_replace",
                "moe_layer_freq",
                "moe_router_activation_func",
                "moe_renormalize",
                "routed_scaling_factor",
                "latent_moe_use_norm",
                "model_type")) {
            all.add(config("missing " + dimension, without(dimension), "config.json", dimension, "no such field"));
        }
        all.addAll(List.of(
                config("negative", text("hidden_size", -1), "hidden_size", "-1", "whole number from 1"),
                config("fraction", text("hidden_size", 36.5), "hidden_size", "36.5"),
                config("as text", text("hidden_size", "36"), "hidden_size", "\"36\""),
                config("huge", text("vocab_size", Long.MAX_VALUE), "vocab_size", "9223372036854775807"),
                config("many layers", text("num_hidden_layers", 1_000_000), "num_hidden_layers", "1000000"),
                config("many experts", text("num_experts", 1_000_000), "num_experts", "1000000"),
                config("hidden_act", text("hidden_act", "gelu"), "hidden_act", "gelu", "situ", "silu"),
                config("rotary", text("mla_use_nope", false), "mla_use_nope", "false", "true"),
                config("kv heads", text("num_key_value_heads", 1), "num_key_value_heads", "3", "1"),
                config("router", text("moe_router_activation_func", "relu"), "moe_router_activation_func", "relu"),
                config("topk method", text("topk_method", "greedy"), "topk_method", "greedy", "noaux_tc"),
                config("too many per token", text("num_experts_per_token", 7), "num_experts_per_token", "7", "1 to 6"),
                config("groups", text("num_expert_group", 4), "num_expert_group", "4 groups of 6 experts"),
                config("eps", text("rms_norm_eps", 0), "rms_norm_eps", "above 0"),
                config("beta", text("activation_situ_linear_beta", 0), "activation_situ_linear_beta", "above 0"),
                config("Z", text("routed_expert_hidden_size", 40), "routed_expert_hidden_size", "32", "40", "MXFP4"),
                config("F", text("moe_intermediate_size", 65), "moe_intermediate_size", "32", "65", "MXFP4"),
                config("dtype", text("dtype", "float16"), "dtype", "float16", "bfloat16"),
                config("model type", root -> root.put("model_type", "llama"), "model_type", "llama", "kimi_k3"),
                config("architecture", root -> root.putArray("architectures").add("Llama"), "architectures", "Llama"),
                config("tied twice", text("tie_word_embeddings", true), "tie_word_embeddings", "root"),
                config("eos", root -> root.put("eos_token_id", 53), "eos_token_id", "53", "0 to 52"),
                config(
                        "both lists",
                        root -> linear(root).putArray("full_attn_layers").add(2).add(3),
                        "full_attn_layers",
                        "both lists",
                        "2"),
                config(
                        "neither list",
                        root -> linear(root).putArray("full_attn_layers"),
                        "full_attn_layers",
                        "neither list",
                        "3"),
                config(
                        "layer out of range",
                        root -> linear(root).putArray("kda_layers").add(4),
                        "kda_layers",
                        "4"),
                config("layer zero", root -> linear(root).putArray("kda_layers").add(0), "kda_layers", "0"),
                config(
                        "layer twice",
                        root -> linear(root).putArray("kda_layers").add(1).add(1),
                        "kda_layers",
                        "twice"),
                config("bound", root -> linear(root).put("gate_lower_bound", -6.0), "gate_lower_bound", "-6.0", "-5"),
                config("bound 0", root -> linear(root).put("gate_lower_bound", 0), "gate_lower_bound", "0.0"),
                config("linear", text("linear_attn_config", 3), "linear_attn_config", "object", "3"),
                config(
                        "quant method",
                        root -> ((ObjectNode) root.at("/text_config/quantization_config")).put("quant_method", "gptq"),
                        "quant_method",
                        "gptq",
                        "compressed-tensors"),
                config("bits", root -> weights(root).put("num_bits", 8), "num_bits", "8"),
                config("group size", root -> weights(root).put("group_size", 16), "group_size", "16"),
                config("asymmetric", root -> weights(root).put("symmetric", false), "symmetric", "false"),
                config("no quantisation", without("quantization_config"), "weight_packed", "quantization_config")));
        return all.stream();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("configs")
    void config_isRefusedByName(String name, Consumer<ObjectNode> edit, String[] parts) {
        refused(new TinyCheckpoint().edit(edit).write(temporary), parts);
    }

    private static Arguments tensors(String name, Consumer<java.util.Map<String, Tensor>> change, String... parts) {
        return Arguments.of(name, change, parts);
    }

    private static Tensor zeros(String name, String dtype, long... shape) {
        return new Tensor(name, dtype, shape, (buffer, random) -> {});
    }

    private static Consumer<java.util.Map<String, Tensor>> put(String name, String dtype, long... shape) {
        return tensors -> tensors.put(name, zeros(name, dtype, shape));
    }

    static Stream<Arguments> tensorChanges() {
        String expert = "model.layers.1.block_sparse_moe.experts.";
        String kda = "model.layers.0.self_attn.";
        return Stream.of(
                tensors("missing", t -> t.remove("model.norm.weight"), "model.norm.weight", "no such tensor"),
                tensors("missing head", t -> t.remove("lm_head.weight"), "lm_head.weight", "no such tensor"),
                tensors("missing expert", t -> t.remove(expert + "3.w2.weight_scale"), "experts.3.w2.weight_scale"),
                tensors("missing experts", t -> t.keySet().removeIf(n -> n.startsWith(expert)), "experts.0.w1"),
                tensors(
                        "shape",
                        put("model.norm.weight", "BF16", 37),
                        "model.norm.weight",
                        "[36]",
                        "[37]",
                        ".safetensors"),
                tensors("rank", put("lm_head.weight", "BF16", 53, 36, 1), "lm_head.weight", "[53, 36]", "[53, 36, 1]"),
                tensors("type", put("model.norm.weight", "F32", 36, 1), "model.norm.weight", "[36, 1]"),
                tensors("U8", put("model.norm.weight", "U8", 36), "model.norm.weight", "BF16 or F32", "U8"),
                tensors("rounded bias", put(kda + "dt_bias", "BF16", 36), "dt_bias", "F32", "BF16"),
                tensors("A_log short", put(kda + "A_log", "F32", 2), "A_log", "[3]", "[2]"),
                tensors("conv", put(kda + "k_conv1d.weight", "F32", 36, 1, 3), "k_conv1d", "[36, 1, 4]", "[36, 1, 3]"),
                tensors("expert shape", put(expert + "0.w1.weight_packed", "U8", 64, 15), "[64, 16]", "[64, 15]"),
                tensors("expert type", put(expert + "0.w1.weight_packed", "BF16", 64, 16), "U8", "BF16"),
                tensors("expert mix", put(expert + "0.w1.weight", "BF16", 64, 32), "MXFP4", "BF16", "experts.0.w1"),
                tensors("too many experts", put(expert + "6.w1.weight_packed", "U8", 64, 16), "num_experts 6"),
                tensors(
                        "expert in dense layer",
                        put("model.layers.0.block_sparse_moe.experts.0.w1.weight_packed", "U8", 64, 16),
                        "dense layer 0"),
                tensors(
                        "expert layer",
                        put("model.layers.9.block_sparse_moe.experts.0.w1.weight_packed", "U8", 64, 16),
                        "layers below 3"),
                tensors("bias", put(kda + "q_proj.bias", "BF16", 36), "q_proj.bias", "only tensors"),
                tensors("layer", put("model.layers.3.input_layernorm.weight", "BF16", 36), "layers.3.input_layernorm"),
                tensors(
                        "scale 255",
                        t -> t.put(expert + "2.w3.weight_scale", new Tensor("", "U8", new long[] {64, 1}, (b, r) -> {
                            Arrays.fill(b.array(), (byte) 120);
                            b.put(63, (byte) 255);
                        })),
                        "layer 1 expert 2 w3",
                        "scale byte 63",
                        "255",
                        "not a number"),
                tensors(
                        "scale tiny",
                        t -> t.put(expert + "2.w3.weight_scale", zeros("", "U8", 64, 1)),
                        "layer 1 expert 2 w3",
                        "27 to 252",
                        "found 0"),
                tensors(
                        "A_log padding",
                        t -> t.put(kda + "A_log", new Tensor("", "F32", new long[] {5}, (b, r) -> b.putFloat(16, 2f))),
                        "A_log",
                        "zeros behind the 3 heads",
                        "2.0 at 4"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("tensorChanges")
    void tensors_areRefusedByName(String name, Consumer<java.util.Map<String, Tensor>> change, String[] parts) {
        refused(new TinyCheckpoint().change(change).write(temporary), parts);
    }

    @Test
    void differentHeadOfTiedModel_isRefused() {
        refused(
                new TinyCheckpoint()
                        .set("tie_word_embeddings", true)
                        .storeTiedHead()
                        .write(temporary),
                "lm_head.weight",
                "tie_word_embeddings");
    }

    private static final String ONE = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";

    private static Arguments header(String json, int data, String... parts) {
        return Arguments.of(json, data, parts);
    }

    static Stream<Arguments> headers() {
        String two = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
                + "\"b\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[%d,%d]}}";
        return Stream.of(
                header(ONE, 3, "a", "[0, 4]", "3 bytes"),
                header(ONE, 5, "to", "in none"),
                header(two.formatted(4, 3, 7), 7, "a and b"),
                header(two.formatted(4, 5, 9), 9, "in none"),
                header(two.formatted(4, 8, 4), 8, "b", "[8, 4]"),
                header(two.formatted(4, 4, 9), 9, "b", "4 bytes for U8 [4]", "5"),
                header(ONE.replace("[4]", "[2147483648,4294967296,4]"), 4, "overflows"),
                header(ONE.replace("[4]", "[-4]"), 4, "not negative", "-4"),
                header(ONE.replace("[4]", "[4.0]"), 4, "VALUE_NUMBER_FLOAT"),
                header(ONE.replace("[4]", "[99999999999999999999]"), 4, "99999999999999999999"),
                header(ONE.replace("[0,4]", "[0,4,4]"), 4, "data_offsets"),
                header(ONE.replace("[0,4]", "[4]"), 4, "two data_offsets"),
                header(ONE.replace("U8", "Q3"), 4, "dtype", "Q3"),
                header(ONE.replace("\"dtype\":\"U8\",", ""), 4, "dtype null"),
                header(ONE.replace("\"dtype\":", "\"dtype\":\"U8\",\"dtype\":"), 4, "dtype occurs twice"),
                header(ONE.replace("\"dtype\"", "\"kind\""), 4, "kind"),
                header(ONE + "x", 4, "not valid JSON"),
                header(ONE + "{}", 4, "something follows"),
                header("[]", 0, "JSON object"),
                header(ONE.substring(0, 40), 4, "not valid JSON"),
                header("{\"a\":" + "[".repeat(100_000), 0, "object"),
                header("{\"__metadata__\":{\"a\":1}}", 0, "__metadata__"),
                header("{\"__metadata__\":{},\"__metadata__\":{}}", 0, "__metadata__", "twice"),
                header("{\"" + "n".repeat(100_000) + "\":1}", 0, "not valid JSON"));
    }

    @ParameterizedTest
    @MethodSource("headers")
    void header_isRefused(String json, int data, String[] parts) throws IOException {
        Path file = write(json.getBytes(StandardCharsets.UTF_8), json.length(), data);
        assertThatThrownBy(() -> SafetensorsFile.read(file, tensor -> {}))
                .isInstanceOf(ModelException.class)
                .message()
                .startsWith(file.toString())
                .contains(parts);
    }

    private Path write(byte[] header, long claimed, int data) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(8 + header.length + data).order(ByteOrder.LITTLE_ENDIAN);
        all.putLong(claimed).put(header);
        return Files.write(temporary.resolve("model.safetensors"), all.array());
    }

    @Test
    void headerLength_isBoundedByTheFile() throws IOException {
        byte[] json = ONE.getBytes(StandardCharsets.UTF_8);
        for (long claimed : new long[] {json.length + 5L, Long.MAX_VALUE, -1, Long.MIN_VALUE, 0, 1}) {
            Path file = write(json, claimed, 4);
            assertThatThrownBy(() -> SafetensorsFile.read(file, tensor -> {}))
                    .isInstanceOf(ModelException.class)
                    .hasMessageContainingAll("header length", Long.toUnsignedString(claimed));
        }
    }

    @Test
    void headerOfOtherEncoding_isRefused() throws IOException {
        byte[] utf16 = ONE.getBytes(StandardCharsets.UTF_16LE);
        byte[] latin1 = ONE.replace("\"a\"", "\"\u00e9\"").getBytes(StandardCharsets.ISO_8859_1);
        for (byte[] json : List.of(utf16, latin1)) {
            Path file = write(json, json.length, 4);
            assertThatThrownBy(() -> SafetensorsFile.read(file, tensor -> {})).isInstanceOf(ModelException.class);
        }
    }

    @Test
    void emptyAndShortFiles_areRefused() throws IOException {
        for (int size : new int[] {0, 7}) {
            Path directory = new TinyCheckpoint().shards(1).write(temporary);
            Files.write(directory.resolve("model.safetensors"), new byte[size]);
            refused(directory, "model.safetensors", "at least 8 bytes", "found " + size);
        }
    }

    @Test
    void truncatedShard_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path shard = directory.resolve("model-00002-of-000002.safetensors");
        byte[] all = Files.readAllBytes(shard);
        Files.write(shard, Arrays.copyOf(all, all.length - 1));
        refused(directory, shard.toString(), "download it again");
    }

    @Test
    void duplicateTensor_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().shards(1).noIndex().write(temporary);
        Files.copy(directory.resolve("model.safetensors"), directory.resolve("other.safetensors"));
        refused(directory, "other.safetensors", "found again", "model.safetensors");
    }

    @Test
    void mixedPrefixes_areRefused() throws IOException {
        Path directory = new TinyCheckpoint().shards(1).noIndex().write(temporary.resolve("a"));
        Path bare = new TinyCheckpoint().shards(1).noIndex().textOnly().write(temporary.resolve("b"));
        Files.copy(bare.resolve("model.safetensors"), directory.resolve("other.safetensors"));
        refused(directory, "language_model.", "do not mix");
    }

    @Test
    void missingShard_isNamed() throws IOException {
        Path indexed = new TinyCheckpoint().shards(3).write(temporary.resolve("a"));
        Files.delete(indexed.resolve("model-00002-of-000003.safetensors"));
        refused(indexed, "model-00002-of-000003.safetensors", "no such file");
        Path listed = new TinyCheckpoint().shards(3).noIndex().write(temporary.resolve("b"));
        Files.delete(listed.resolve("model-00002-of-000003.safetensors"));
        refused(listed, "model-00002-of-000003.safetensors", "no such file", "download");
    }

    @Test
    void index_mustAgreeWithTheHeaders() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path index = directory.resolve(INDEX);
        String good = Files.readString(index);
        String first = "model-00001-of-000002.safetensors";
        String norm = "\"language_model.model.norm.weight\":\"model-00002-of-000002.safetensors\"";
        assertThat(good).contains(norm);
        Files.writeString(index, good.replace(norm, norm.replace("00002-of", "00001-of")));
        refused(directory, INDEX, "model.norm.weight", "in " + first, "model-00002");
        Files.writeString(index, good.replace(norm + ",", "").replace("," + norm, ""));
        refused(directory, INDEX, "weight_map", "without model.norm.weight");
        Files.writeString(index, good.replace("model.norm.weight", "model.norm.width"));
        refused(directory, INDEX, "model.norm.width", "no such tensor");
        Files.writeString(index, good.replace(norm, norm + "," + norm));
        refused(directory, INDEX, "model.norm.weight", "listed twice");
        Files.writeString(index, good.replace(first, "../" + first));
        refused(directory, INDEX, "beside the index", "../" + first);
        Files.writeString(index, "{}");
        refused(directory, INDEX, "weight_map");
        Files.writeString(index, good.substring(0, good.length() / 2));
        refused(directory, INDEX, "not valid JSON");
    }

    @Test
    void configThatIsNoObject_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path config = directory.resolve("config.json");
        for (String bad :
                List.of("", "[]", "{\"a\":1,\"a\":2}", "{} {}", "[".repeat(100_000), "{\"a\":1e999999999}x")) {
            Files.writeString(config, bad);
            refused(directory, "config.json");
        }
        Files.delete(config);
        refused(directory, "config.json", "no such file");
    }

    @Test
    void eosIds_mustBeInTheVocabulary() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Files.writeString(directory.resolve("generation_config.json"), "{\"eos_token_id\":[2,99]}");
        refused(directory, "generation_config.json", "eos_token_id", "99");
    }

    @Test
    void linksInACircle_areRefused() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path shard = directory.resolve("model-00001-of-000002.safetensors");
        Path other = directory.resolve("loop");
        Files.delete(shard);
        Files.createSymbolicLink(shard, other);
        refused(directory, shard.toString(), "target does not exist");
        Files.createSymbolicLink(other, shard);
        refused(directory, shard.toString(), "check the file, its links");
    }

    @Test
    void directoryInPlaceOfAFile_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path shard = directory.resolve("model-00001-of-000002.safetensors");
        Files.delete(shard);
        Files.createDirectory(shard);
        refused(directory, shard.toString(), "regular file", "a directory");
        refused(directory.resolve("config.json"), "config.json", "a directory with", "something else");
        refused(directory.resolve("absent"), "absent", "no such directory", "--model");
    }

    @Test
    void unreadableFile_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().write(temporary);
        Path shard = directory.resolve("model-00001-of-000002.safetensors");
        assumeTrue(shard.toFile().setReadable(false) && !Files.isReadable(shard), "this user reads everything");
        refused(directory, shard.toString(), "permission denied");
    }

    @Test
    void emptyDirectory_isRefused() throws IOException {
        Path directory = new TinyCheckpoint().shards(1).noIndex().write(temporary);
        Files.delete(directory.resolve("model.safetensors"));
        refused(directory, "expected safetensors files, found none");
    }
}
