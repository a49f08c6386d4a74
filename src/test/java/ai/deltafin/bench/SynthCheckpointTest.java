package ai.deltafin.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.model.Checkpoint;
import ai.deltafin.model.ExpertTable;
import ai.deltafin.model.ExpertTensor;
import ai.deltafin.model.K3Layout;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SynthCheckpointTest {
    private static final SynthShape SHAPE = SynthShape.DEMO.with(5, 24, 512);

    @TempDir
    Path directory;

    @Test
    void write_givesACheckpointThatOpens_withOneRangeAnExpert() throws IOException {
        LongAdder done = new LongAdder();
        SynthCheckpoint synth = new SynthCheckpoint(SHAPE, 7, directory, done::add);
        long written = synth.write(2);
        assertThat(written).isEqualTo(synth.bytes()).isEqualTo(done.sum());
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertThat(checkpoint.config().layers()).isEqualTo(5);
            K3Layout.MoeTensors moe =
                    (K3Layout.MoeTensors) checkpoint.layout().layers().get(2).ffn();
            ExpertTable table = moe.experts();
            assertThat(table.experts()).isEqualTo(24);
            for (int e = 0; e < 24; e++) {
                assertThat(table.contiguous(e)).isTrue();
            }
            byte[] scales = checkpoint.data(table, 3, ExpertTensor.W1_SCALES).toArray(ValueLayout.JAVA_BYTE);
            int low = 255;
            int high = 0;
            for (byte scale : scales) {
                low = Math.min(low, scale & 0xFF);
                high = Math.max(high, scale & 0xFF);
            }
            assertThat(high - low).as("spread of the scales of a matrix").isLessThan(16);
            assertThat(high).isLessThan(255);
            float[] norm = checkpoint.floats(checkpoint.layout().norm());
            double mean = 0;
            for (float v : norm) {
                mean += v / norm.length;
            }
            assertThat(mean).isBetween(0.9, 1.1);
        }
    }

    @Test
    void write_givesTheSameBytes_forAnyThreadsAndAfterAStop() throws IOException {
        Path one = directory.resolve("one");
        Path two = directory.resolve("two");
        new SynthCheckpoint(SHAPE, 7, one, _ -> {}).write(1);
        SynthCheckpoint again = new SynthCheckpoint(SHAPE, 7, two, _ -> {});
        again.write(3);
        Path shard = two.resolve("model-00002-of-000006.safetensors");
        Path part = two.resolve("model-00002-of-000006.safetensors.part");
        Files.move(shard, part);
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() / 2);
        }
        assertThat(again.write(2)).as("only the missing shard").isBetween(1L, Files.size(shard));
        try (var files = Files.list(one)) {
            for (Path file : files.toList()) {
                assertThat(Files.mismatch(file, two.resolve(file.getFileName())))
                        .as(file.toString())
                        .isEqualTo(-1);
            }
        }
        assertThat(again.write(2)).as("nothing is missing now").isZero();
    }

    @Test
    void write_overAnotherSeed_isRefused() throws IOException {
        new SynthCheckpoint(SHAPE, 7, directory, _ -> {}).write(2);
        SynthCheckpoint other = new SynthCheckpoint(SHAPE, 8, directory, _ -> {});
        assertThatThrownBy(() -> other.write(2)).hasMessageContaining("another shape or seed");
    }

    @Test
    void k3_hasTheReleasedSizes() {
        assertThat(new SynthCheckpoint(SynthShape.K3, 1, directory, _ -> {}).bytes())
                .as("text tensors of k3-model.md 2.1 plus headers")
                .isBetween(1_559_965_606_912L, 1_560_100_000_000L);
    }
}
