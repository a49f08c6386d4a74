package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.model.K3Layout.DenseTensors;
import ai.deltafin.model.K3Layout.KdaGate;
import ai.deltafin.model.K3Layout.KdaTensors;
import ai.deltafin.model.K3Layout.MlaQuery;
import ai.deltafin.model.K3Layout.MlaTensors;
import ai.deltafin.model.K3Layout.MoeTensors;
import ai.deltafin.model.TinyCheckpoint.Experts;
import ai.deltafin.model.TinyCheckpoint.Tensor;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Good checkpoints: the two shipped ones and every variant of the config. */
final class CheckpointTest {
    static final Path MINI = Path.of("src/test/resources/k3-mini");

    @TempDir
    Path temporary;

    @Test
    void k3Mini_opensWithReleasedNamesAndSizes() {
        try (Checkpoint mini = Checkpoint.open(MINI)) {
            assertThat(mini.tensorCount()).isEqualTo(4948);
            assertThat(mini.totalTensorBytes()).as("total_size of the index").isEqualTo(9_460_864);
            assertThat(mini.eosIds()).containsExactly(509);
            K3Config config = mini.config();
            assertThat(config.layers()).isEqualTo(13);
            assertThat(config.kda().orElseThrow().layers()).containsExactlyInAnyOrder(0, 1, 2, 4, 5, 6, 8, 9, 10);
            assertThat(config.isMoe(0)).isFalse();
            assertThat(config.isMoe(12)).isTrue();
            assertThat(mini.layout().layers().get(3).attention()).isInstanceOf(MlaTensors.class);
            assertThat(mini.layout().layers().get(0).ffn()).isInstanceOf(DenseTensors.class);
            assertThat(mini.layout().outputMix()).isPresent();
        }
    }

    @Test
    void k3Mini_everyExpertIsOneRange() {
        try (Checkpoint mini = Checkpoint.open(MINI)) {
            for (int l = 1; l < 13; l++) {
                ExpertTable table = ((MoeTensors) mini.layout().layers().get(l).ffn()).experts();
                assertThat(table.expertBytes()).isEqualTo(3 * (64 * 32 + 64 * 2));
                for (int e = 0; e < 64; e++) {
                    assertThat(table.ranges(e))
                            .containsExactly(new ExpertRange(
                                    table.file(e, ExpertTensor.W1),
                                    table.offset(e, ExpertTensor.W1),
                                    table.expertBytes()));
                    assertThat(table.imageOffset(e, ExpertTensor.W3_SCALES)).isEqualTo(table.expertBytes() - 128);
                }
            }
        }
    }

    @Test
    void k3Demo_opensAndEndsAtItsChatMarker() {
        try (Checkpoint demo = Checkpoint.open(DemoModel.directory())) {
            assertThat(demo.tensorCount()).isEqualTo(4948);
            assertThat(demo.totalTensorBytes()).isEqualTo(36_531_456);
            assertThat(demo.eosIds()).containsExactly(5890);
        }
    }

    static Stream<Arguments> variants() {
        Map<String, TinyCheckpoint> all = new LinkedHashMap<>();
        all.put("defaults", new TinyCheckpoint());
        all.put("text only", new TinyCheckpoint().textOnly());
        all.put("one file without index", new TinyCheckpoint().shards(1).noIndex());
        all.put("five files without index", new TinyCheckpoint().shards(5).noIndex());
        all.put("bf16 experts", new TinyCheckpoint().experts(Experts.BF16).set("moe_intermediate_size", 33));
        all.put("f32 experts", new TinyCheckpoint().experts(Experts.F32).set("routed_expert_hidden_size", 31));
        all.put("tied", new TinyCheckpoint().set("tie_word_embeddings", true));
        all.put("full query", new TinyCheckpoint().set("q_lora_rank", null));
        all.put("no attention residual", new TinyCheckpoint().set("attn_res_block_size", null));
        all.put("no MLA gate", new TinyCheckpoint().set("mla_use_output_gate", false));
        all.put("low-rank KDA gate", new TinyCheckpoint().setLinear("use_full_rank_gate", false));
        all.put("dense", new TinyCheckpoint().set("num_experts", null));
        all.put(
                "experts on H",
                new TinyCheckpoint().set("routed_expert_hidden_size", null).set("hidden_size", 96));
        all.put("no shared experts", new TinyCheckpoint().set("num_shared_experts", null));
        all.put("no latent norm", new TinyCheckpoint().set("latent_moe_use_norm", false));
        all.put("softmax router", new TinyCheckpoint().set("moe_router_activation_func", "softmax"));
        all.put("groups", new TinyCheckpoint().set("num_expert_group", 3).set("topk_group", 1));
        all.put("softplus decay", new TinyCheckpoint().setLinear("gate_lower_bound", null));
        all.put("silu", new TinyCheckpoint().set("hidden_act", "silu"));
        all.put(
                "uncapped",
                new TinyCheckpoint().set("activation_situ_beta", 0).set("activation_situ_linear_beta", null));
        all.put("MLA only", new TinyCheckpoint().set("linear_attn_config", null));
        all.put(
                "every second layer MoE",
                new TinyCheckpoint().set("moe_layer_freq", 2).set("num_hidden_layers", 5));
        all.put("wide values", new TinyCheckpoint().set("v_head_dim", 40).set("kv_lora_rank", 7));
        return all.entrySet().stream().map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("variants")
    void variant_opensAndItsBytesAddUp(String name, TinyCheckpoint tiny) {
        try (Checkpoint checkpoint = Checkpoint.open(tiny.write(temporary))) {
            CheckpointSummary sizes = CheckpointSummary.of(checkpoint);
            assertThat(sizes.embedBytes() + sizes.spineBytes() + sizes.expertBytes())
                    .as("sum over the layout against the files")
                    .isEqualTo(checkpoint.totalTensorBytes());
        }
    }

    @Test
    void variants_reachTheLayout() {
        var tiny = new TinyCheckpoint()
                .set("q_lora_rank", null)
                .set("mla_use_output_gate", false)
                .set("num_shared_experts", 0)
                .set("tie_word_embeddings", true)
                .setLinear("use_full_rank_gate", false);
        try (Checkpoint checkpoint = Checkpoint.open(tiny.write(temporary))) {
            K3Layout layout = checkpoint.layout();
            var kda = (KdaTensors) layout.layers().get(0).attention();
            var mla = (MlaTensors) layout.layers().get(2).attention();
            var moe = (MoeTensors) layout.layers().get(1).ffn();
            assertThat(kda.gate()).isInstanceOf(KdaGate.LowRank.class);
            assertThat(mla.query()).isInstanceOf(MlaQuery.Full.class);
            assertThat(mla.gate()).isEmpty();
            assertThat(moe.shared()).isEmpty();
            assertThat(layout.lmHead()).isSameAs(layout.embed());
        }
    }

    @Test
    void toleratedShapes_areRead() {
        var tiny = new TinyCheckpoint().change(tensors -> {
            reshape(tensors, "model.layers.0.self_attn.A_log", 1, 1, 3, 1);
            reshape(tensors, "model.layers.0.self_attn.q_conv1d.weight", 36, 4);
            String padded = "model.layers.1.self_attn.A_log";
            tensors.put(
                    padded,
                    new TinyCheckpoint.Tensor(
                            padded,
                            "F32",
                            new long[] {12},
                            (buffer, random) ->
                                    buffer.putFloat(0.5f).putFloat(-0.25f).putFloat(1f)));
        });
        try (Checkpoint checkpoint = Checkpoint.open(tiny.write(temporary))) {
            var kda = (KdaTensors) checkpoint.layout().layers().get(1).attention();
            assertThat(checkpoint.floats(kda.aLog()))
                    .startsWith(0.5f, -0.25f, 1f)
                    .hasSize(12);
        }
    }

    static void reshape(Map<String, TinyCheckpoint.Tensor> tensors, String name, long... shape) {
        tensors.computeIfPresent(name, (key, old) -> new TinyCheckpoint.Tensor(key, old.dtype(), shape, old.fill()));
    }

    @Test
    void scatteredExpert_isGatheredInFileOrder() {
        var tiny = new TinyCheckpoint().shards(1).change(tensors -> {
            String name = "model.layers.1.block_sparse_moe.experts.4.w1.weight_packed";
            var moved = tensors.remove(name);
            tensors.put(name, moved);
        });
        try (Checkpoint checkpoint = Checkpoint.open(tiny.write(temporary))) {
            ExpertTable table =
                    ((MoeTensors) checkpoint.layout().layers().get(1).ffn()).experts();
            List<ExpertRange> ranges = table.ranges(4);
            assertThat(ranges).hasSize(2);
            assertThat(ranges.getFirst().bytes()).isEqualTo(table.expertBytes() - table.bytes(ExpertTensor.W1));
            assertThat(table.imageOffset(4, ExpertTensor.W1))
                    .isEqualTo(ranges.getFirst().bytes());
            assertThat(table.imageOffset(4, ExpertTensor.W1_SCALES)).isZero();
            assertThat(table.contiguous(3)).isTrue();
        }
    }

    @Test
    void packedSpineMatrix_isReadAndItsScalesAreChecked() {
        String name = "model.layers.1.block_sparse_moe.shared_experts.down_proj.weight";
        for (int scale : new int[] {120, 255}) {
            var tiny = new TinyCheckpoint().change(tensors -> {
                tensors.remove(name);
                tensors.put(name + "_packed", new Tensor(name, "U8", new long[] {36, 32}, (buffer, random) -> {}));
                tensors.put(
                        name + "_scale",
                        new Tensor(
                                name,
                                "U8",
                                new long[] {36, 2},
                                (buffer, random) -> Arrays.fill(buffer.array(), (byte) scale)));
            });
            Path directory = tiny.write(temporary);
            if (scale == 255) {
                assertThatThrownBy(() -> Checkpoint.open(directory).close())
                        .isInstanceOf(ModelException.class)
                        .hasMessageContainingAll(name + "_scale", "scale byte 0", "255");
                continue;
            }
            try (Checkpoint checkpoint = Checkpoint.open(directory)) {
                var moe = (MoeTensors) checkpoint.layout().layers().get(1).ffn();
                Matrix down = moe.shared().orElseThrow().down();
                assertThat(down).isInstanceOf(Matrix.Mxfp4.class);
                assertThat(List.of(down.rows(), down.cols(), down.bytes())).containsExactly(36L, 64L, 36L * 34);
            }
        }
    }

    @Test
    void data_isTheTensorsBytes() {
        try (Checkpoint checkpoint = Checkpoint.open(new TinyCheckpoint().write(temporary))) {
            TensorInfo norm = checkpoint.find("model.norm.weight").orElseThrow();
            assertThat(norm.name()).isEqualTo("language_model.model.norm.weight");
            assertThat(checkpoint.data(norm).byteSize()).isEqualTo(72);
            short first = checkpoint.data(norm).get(ValueLayout.JAVA_SHORT_UNALIGNED, 0);
            assertThat(checkpoint.floats(norm)[0])
                    .isEqualTo(Float.intBitsToFloat(first << 16))
                    .isBetween(0.5f, 1.5f);
        }
    }
}
