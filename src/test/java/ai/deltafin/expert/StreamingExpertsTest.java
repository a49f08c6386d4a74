package ai.deltafin.expert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.io.Errno;
import ai.deltafin.model.ExpertTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The bytes a layer gets are the shards' bytes, whatever the cache, the guesses and the drives do. */
class StreamingExpertsTest {
    private static final ExpertGeometry GEOMETRY = new ExpertGeometry(1, 3, 24, 4);

    @TempDir
    Path directory;

    private FakeShards shards(FakeShards.Order order) throws IOException {
        return FakeShards.write(directory, GEOMETRY, 20_000, order, 3);
    }

    private static int[] route(Random random) {
        int[] all = IntStream.range(0, GEOMETRY.experts()).toArray();
        for (int i = 0; i < GEOMETRY.k(); i++) {
            int j = i + random.nextInt(all.length - i);
            int t = all[i];
            all[i] = all[j];
            all[j] = t;
        }
        return java.util.Arrays.copyOf(all, GEOMETRY.k());
    }

    @ParameterizedTest
    @EnumSource
    void demand_givesTheShardsBytes(FakeShards.Order order) throws IOException {
        FakeShards shards = shards(order);
        for (int slots : new int[] {4, 9, 30, 100}) {
            try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(slots))) {
                Random random = new Random(slots);
                for (int token = 0; token < 20; token++) {
                    for (int layer = 1; layer <= 3; layer++) {
                        Streams.runLayer(source, shards, layer, route(random));
                    }
                    source.committed(1);
                }
                ExpertStats stats = source.stats();
                assertThat(stats.demanded()).isEqualTo(20 * 3 * 4);
                assertThat(stats.hits() + stats.reads()).isEqualTo(stats.demanded());
                assertThat(stats.speculativeBytes()).isZero();
            }
        }
    }

    @Test
    void demand_withRoomForEverything_readsEachExpertOnce() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(GEOMETRY.keys() + 8))) {
            for (int pass = 0; pass < 3; pass++) {
                for (int layer = 1; layer <= 3; layer++) {
                    for (int first = 0; first < 24; first += 4) {
                        Streams.runLayer(source, shards, layer, new int[] {first, first + 1, first + 2, first + 3});
                    }
                }
            }
            assertThat(source.stats().reads()).isEqualTo(GEOMETRY.keys());
            assertThat(source.stats().hits()).isEqualTo(2L * GEOMETRY.keys());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 6, 13, 40})
    void demand_ofAWholeLayer_runsInWavesThroughFewSlots(int slots) throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        int[] all = IntStream.range(0, 24).toArray();
        int[] ids = new int[6 * 4];
        System.arraycopy(all, 0, ids, 0, 24);
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(slots))) {
            source.routed(2, 6, ids, new float[24], 4);
            Streams.runDemand(source, shards, 2, all, 24);
            source.committed(6);
            assertThat(source.stats().reads()).isEqualTo(24);
        }
    }

    @Test
    void randomised_predictionsCachesPiecesAndOrders_giveTheSameBytes() throws IOException {
        long seed = Long.getLong("deltafin.seed", 20260);
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        Random random = new Random(seed);
        for (int round = 0; round < 12; round++) {
            int slots = 6 + random.nextInt(60);
            int pieces = 4096 << random.nextInt(4);
            long order = random.nextLong();
            Streams.Setup setup = Streams.Setup.of(slots)
                    .withPieces(pieces)
                    .withPrefetch()
                    .wrapped(reader -> new FaultyReader(reader, (f, o, n) -> 0, order));
            try (StreamingExperts source = Streams.open(shards, setup)) {
                for (int token = 0; token < 15; token++) {
                    for (int layer = 1; layer <= 3; layer++) {
                        int[] route = route(random);
                        int[] guess = random.nextBoolean() ? route(random) : route;
                        if (random.nextInt(3) > 0) {
                            source.predict(layer, guess, 1 + random.nextInt(guess.length));
                        }
                        if (random.nextInt(8) == 0) {
                            source.routed(layer, 1, route, new float[4], 4);
                            source.demand(layer, route, 4).close(); // a cancelled layer
                            break;
                        }
                        Streams.runLayer(source, shards, layer, route);
                    }
                    source.committed(1);
                }
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("failed with -Ddeltafin.seed=" + seed + ", round " + round, e);
            }
        }
    }

    @Test
    void shortReads_areCompleted() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        AtomicInteger n = new AtomicInteger();
        Streams.Setup setup = Streams.Setup.of(20)
                .withPieces(16384)
                .wrapped(reader -> new FaultyReader(
                        reader, (f, o, length) -> length > 4096 && n.incrementAndGet() % 2 == 0 ? 4096 : 0, 1));
        try (StreamingExperts source = Streams.open(shards, setup)) {
            Streams.runLayer(source, shards, 1, new int[] {3, 2, 1, 0});
            assertThat(n.get()).isPositive();
        }
    }

    @Test
    void anError_isTriedAgain_thenNamesTheExpert_andTheNextRequestWorks() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        AtomicInteger failures = new AtomicInteger(1);
        Streams.Setup setup = Streams.Setup.of(20)
                .wrapped(reader ->
                        new FaultyReader(reader, (f, o, l) -> failures.getAndDecrement() > 0 ? -Errno.EIO : 0, 1));
        try (StreamingExperts source = Streams.open(shards, setup)) {
            Streams.runLayer(source, shards, 1, new int[] {0, 1, 2, 3}); // one error: read once more
            failures.set(1000);
            assertThatThrownBy(() -> Streams.runLayer(source, shards, 2, new int[] {9, 8, 7, 6}))
                    .isInstanceOf(ExpertReadException.class)
                    .hasMessageContaining("layer 2")
                    .hasMessageContaining("shard-1")
                    .hasMessageContaining("EIO");
            failures.set(0);
            Streams.runLayer(source, shards, 2, new int[] {9, 8, 7, 6});
            assertThat(source.drives().getFirst().state()).isNotEqualTo(Drive.State.OFFLINE);
        }
    }

    @Test
    void aMirror_servesWhatTheFirstDriveCannot() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        Path mirror = copyOf(shards);
        Streams.Setup setup = Streams.Setup.of(20)
                .withRoots(List.of(shards.root(), mirror))
                .wrapped(reader -> new FaultyReader(reader, (f, o, l) -> f.drive() == 0 ? -Errno.EIO : 0, 1));
        try (StreamingExperts source = Streams.open(shards, setup)) {
            Random random = new Random(1);
            for (int layer = 1; layer <= 3; layer++) {
                Streams.runLayer(source, shards, layer, route(random));
            }
            assertThat(source.drives().get(0).state()).isEqualTo(Drive.State.OFFLINE);
            assertThat(source.drives().get(1).state()).isEqualTo(Drive.State.HEALTHY);
        }
    }

    private Path copyOf(FakeShards shards) throws IOException {
        Path mirror = Files.createDirectory(directory.resolve("mirror"));
        for (String name : shards.files()) {
            Files.copy(shards.root().resolve(name), mirror.resolve(name));
        }
        return mirror;
    }

    @Test
    void aHungRead_goesToTheMirrorAndItsSlotStaysReserved() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        Path mirror = copyOf(shards);
        AtomicLong skew = new AtomicLong();
        AtomicInteger hangs = new AtomicInteger(1);
        Streams.Setup setup = Streams.Setup.of(20)
                .withRoots(List.of(shards.root(), mirror))
                .at(() -> System.nanoTime() + skew.addAndGet(20_000_000L)) // time runs fast
                .wrapped(reader -> new FaultyReader(
                        reader,
                        (f, o, l) -> f.drive() == 0 && hangs.getAndDecrement() > 0 ? FaultyReader.NEVER : 0,
                        1));
        StreamingExperts source = Streams.open(shards, setup);
        Streams.runLayer(source, shards, 1, new int[] {5, 6, 7, 8});
        assertThat(source.drives().get(0).state()).isNotEqualTo(Drive.State.HEALTHY);
        assertThat(source.store.drainingCount()).isEqualTo(1); // the drive may still write into it
        source.close();
    }

    @Test
    void aHungReadWithoutAMirror_failsNamingTheExpert() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        AtomicLong skew = new AtomicLong();
        AtomicInteger hangs = new AtomicInteger(1);
        var passing = new java.util.concurrent.atomic.AtomicBoolean();
        Streams.Setup setup = Streams.Setup.of(20)
                .at(() -> System.nanoTime() + skew.addAndGet(passing.get() ? 0 : 20_000_000L))
                .wrapped(reader -> new FaultyReader(
                        reader,
                        (f, o, l) -> !passing.get() && hangs.getAndDecrement() > 0 ? FaultyReader.NEVER : 0,
                        1));
        StreamingExperts source = Streams.open(shards, setup);
        assertThatThrownBy(() -> Streams.runLayer(source, shards, 1, new int[] {5, 6, 7, 8}))
                .isInstanceOf(ExpertReadException.class)
                .hasMessageContaining("does not answer");
        passing.set(true);
        Streams.runLayer(source, shards, 1, new int[] {5, 6, 7, 8}); // the drive is back
        source.close();
    }

    @Test
    void aTruncatedFile_isNamed() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(20))) {
            try (var file = java.nio.channels.FileChannel.open(
                    shards.root().resolve("shard-0"), java.nio.file.StandardOpenOption.WRITE)) {
                file.truncate(5000);
            }
            assertThatThrownBy(() -> Streams.runLayer(source, shards, 1, new int[] {5, 6, 7, 8}))
                    .isInstanceOf(ExpertReadException.class)
                    .hasMessageContaining("shard-0")
                    .hasMessageContaining("ends too early");
            Streams.runLayer(source, shards, 2, new int[] {5, 6, 7, 8});
        }
    }

    @Test
    void aScaleOf255_isRefused() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        long at = shards.offset(1, 7, ExpertTensor.W2_SCALES) + 100;
        try (var file = java.nio.channels.FileChannel.open(
                shards.root().resolve("shard-0"), java.nio.file.StandardOpenOption.WRITE)) {
            file.write(java.nio.ByteBuffer.wrap(new byte[] {(byte) 255}), at);
        }
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(20))) {
            assertThatThrownBy(() -> Streams.runLayer(source, shards, 1, new int[] {5, 6, 7, 8}))
                    .isInstanceOf(ExpertReadException.class)
                    .hasMessageContaining("expert 7 of layer 1")
                    .hasMessageContaining("255");
            Streams.runLayer(source, shards, 1, new int[] {5, 6, 8, 9});
        }
    }

    @Test
    void take_withoutRelease_saysWhatToDo() throws IOException {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(2));
                ExpertSource.Demand demand = source.demand(1, new int[] {1, 2, 3}, 3)) {
            int[] indices = new int[3];
            int taken = 0;
            while (taken < 2) {
                taken += demand.take(indices);
            }
            assertThatThrownBy(() -> demand.take(indices)).hasMessageContaining("--expert-cache");
        }
    }

    @Test
    void guesses_areUsedWithoutASecondRead() throws Exception {
        FakeShards shards = shards(FakeShards.Order.BACK_TO_BACK);
        try (StreamingExperts source = Streams.open(shards, Streams.Setup.of(40).withPrefetch())) {
            int[] route = {4, 5, 6, 7};
            source.predict(1, route, 4);
            for (int i = 0; i < 500 && source.stats().speculativeBytes() == 0; i++) {
                Thread.sleep(2);
            }
            Thread.sleep(50);
            Streams.runLayer(source, shards, 1, route);
            assertThat(source.stats().reads()).isZero();
            assertThat(source.guesses()).containsExactly(4, 4);
        }
    }
}
