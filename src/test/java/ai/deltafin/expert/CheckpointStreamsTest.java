package ai.deltafin.expert;

import static org.assertj.core.api.Assertions.assertThat;

import ai.deltafin.io.ReaderKind;
import ai.deltafin.model.Checkpoint;
import ai.deltafin.model.DemoModel;
import ai.deltafin.model.ExpertTable;
import ai.deltafin.model.ExpertTensor;
import ai.deltafin.model.K3Layout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Streamed from a real checkpoint, every piece of every expert equals the mapped one. */
class CheckpointStreamsTest {
    @ParameterizedTest
    @EnumSource
    void everyExpert_equalsTheMappedOne(ReaderKind kind) {
        try (Checkpoint checkpoint = Checkpoint.open(DemoModel.directory())) {
            CheckpointRanges ranges = CheckpointRanges.of(checkpoint);
            ExpertGeometry g = ranges.geometry();
            StreamingOptions options = StreamingOptions.withSlots(40);
            options = new StreamingOptions(
                    40, kind, options.prefetch(), 0, options.pieceBytes(), options.windowBytes(), true);
            try (StreamingExperts source = StreamingExperts.open(
                    ranges, List.of(new DriveRoot(checkpoint.directory(), 0)), options, new Heat(g.keys()))) {
                Random random = new Random(1);
                int[] wanted =
                        random.ints(0, g.experts()).distinct().limit(g.k()).toArray();
                for (int layer = g.firstLayer(); layer < g.firstLayer() + g.layers(); layer++) {
                    K3Layout.MoeTensors moe = (K3Layout.MoeTensors)
                            checkpoint.layout().layers().get(layer).ffn();
                    source.routed(layer, 1, wanted, new float[g.k()], g.k());
                    compare(source, checkpoint, moe.experts(), wanted);
                }
            } catch (ai.deltafin.io.StorageException e) {
                assertThat(kind)
                        .as("only io_uring may be missing: " + e.getMessage())
                        .isEqualTo(ReaderKind.IO_URING);
                System.err.println("skipped: " + e.getMessage());
            }
        }
    }

    private static void compare(StreamingExperts source, Checkpoint checkpoint, ExpertTable table, int[] wanted) {
        int[] taken = new int[wanted.length];
        try (ExpertSource.Demand demand = source.demand(table.layer(), wanted, wanted.length)) {
            for (int n = demand.take(taken); n > 0; n = demand.take(taken)) {
                for (int i = 0; i < n; i++) {
                    for (ExpertTensor piece : ExpertTensor.values()) {
                        if (table.bytes(piece) > 0) {
                            MemorySegment mapped = checkpoint.data(table, wanted[taken[i]], piece);
                            assertThat(MemorySegment.ofAddress(demand.address(taken[i], piece))
                                            .reinterpret(mapped.byteSize())
                                            .toArray(ValueLayout.JAVA_BYTE))
                                    .isEqualTo(mapped.toArray(ValueLayout.JAVA_BYTE));
                        }
                    }
                    demand.release(taken[i]);
                }
            }
        }
    }
}
