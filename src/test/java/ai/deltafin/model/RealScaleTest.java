package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The released dimensions, with the values as holes of the file system: sizes of k3-model.md 5 and the reader's own cost. */
final class RealScaleTest {
    @TempDir
    Path temporary;

    @Test
    void releasedDimensions_giveThePublishedSizes() {
        var real = new TinyCheckpoint()
                .set("hidden_size", 7168)
                .set("vocab_size", 163_840)
                .set("num_hidden_layers", 93)
                .set("intermediate_size", 33_792)
                .set("attn_res_block_size", 12)
                .set("num_attention_heads", 96)
                .set("num_key_value_heads", 96)
                .set("q_lora_rank", 1536)
                .set("kv_lora_rank", 512)
                .set("qk_nope_head_dim", 128)
                .set("qk_rope_head_dim", 64)
                .set("v_head_dim", 128)
                .set("num_experts", 896)
                .set("num_experts_per_token", 16)
                .set("moe_intermediate_size", 3072)
                .set("num_shared_experts", 2)
                .set("routed_expert_hidden_size", 3584)
                .setLinear("num_heads", 96)
                .setLinear("head_dim", 128)
                .kda(IntStream.rangeClosed(1, 91).filter(l -> l % 4 != 0).toArray())
                .change(tensors -> tensors.replaceAll((name, tensor) -> name.endsWith("A_log")
                        ? new TinyCheckpoint.Tensor(name, "F32", new long[] {128}, tensor.fill())
                        : tensor))
                .shards(96)
                .sparse();
        Path directory = real.write(temporary);

        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertThat(checkpoint.tensorCount()).as("without vision").isEqualTo(497_220 - 168);
            assertThat(checkpoint.totalTensorBytes()).isEqualTo(1_560_860_324_864L - 894_717_952);
            CheckpointSummary sizes = CheckpointSummary.of(checkpoint);
            assertThat(sizes.parameters())
                    .as("with 32 values of padding in each A_log")
                    .isEqualTo(2_779_484_478_208L);
            assertThat(sizes.spineBytes()).isEqualTo(111_160_730_624L);
            assertThat(sizes.embedBytes()).isEqualTo(2_348_810_240L);
            assertThat(sizes.embedBytesPerToken()).isEqualTo(14_336);
            assertThat(sizes.expertBytes()).isEqualTo(1_446_456_066_048L);
            assertThat(sizes.expertBytesPerToken()).isEqualTo(25_829_572_608L);
            assertThat(sizes.stateBytes()).isEqualTo(464_633_856);
            assertThat(sizes.stateBytesPerPosition()).isEqualTo(55_296);
        }
    }
}
