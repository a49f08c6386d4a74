package ai.deltafin.expert;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reading an expert allocates nothing on the Java heap once the code is warm. */
class AllocationTest {
    private static final int WARM_PASSES = 4000;
    private static final int PASSES = 500;

    @TempDir
    Path directory;

    @Test
    void demand_onTheSteadyPath_allocatesNothing() throws IOException {
        var geometry = new ExpertGeometry(1, 2, 32, 4);
        FakeShards shards = FakeShards.write(directory, geometry, 4096, FakeShards.Order.BACK_TO_BACK, 1);
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int[] route = new int[4];
        float[] weights = new float[4];
        int[] indices = new int[4];
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(10))) {
            passes(source, WARM_PASSES, route, weights, indices);
            long readsBefore = source.stats().reads();
            long before = threads.getCurrentThreadAllocatedBytes();
            passes(source, PASSES, route, weights, indices);
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            long reads = source.stats().reads() - readsBefore;
            assertThat(reads).isGreaterThan(PASSES);
            // The measurement itself and a late compilation may cost a little; a byte a read would be thousands.
            assertThat(allocated).as("bytes on the heap over %d reads", reads).isLessThan(reads);
        }
    }

    private static void passes(StreamingExperts source, int passes, int[] route, float[] weights, int[] indices) {
        int next = 0;
        for (int pass = 0; pass < passes; pass++) {
            for (int layer = 1; layer <= 2; layer++) {
                for (int i = 0; i < route.length; i++) {
                    route[i] = (next + i) % 32;
                }
                next += 5;
                source.routed(layer, 1, route, weights, 4);
                try (ExpertSource.Demand demand = source.demand(layer, route, 4)) {
                    for (int n = demand.take(indices); n > 0; n = demand.take(indices)) {
                        for (int j = 0; j < n; j++) {
                            demand.release(indices[j]);
                        }
                    }
                }
            }
            source.committed(1);
        }
    }
}
