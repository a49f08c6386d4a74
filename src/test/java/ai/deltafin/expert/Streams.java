package ai.deltafin.expert;

import static org.assertj.core.api.Assertions.assertThat;

import ai.deltafin.io.Access;
import ai.deltafin.io.AlignedMemory;
import ai.deltafin.io.DriveReader;
import ai.deltafin.io.NativeReader;
import ai.deltafin.model.ExpertTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Builds streaming sources over fake shards and checks what they give. */
final class Streams {
    private Streams() {}

    /** What a test chooses. */
    record Setup(
            int slots,
            int pieceBytes,
            boolean prefetch,
            List<Path> roots,
            UnaryOperator<DriveReader> wrap,
            java.util.function.LongSupplier clock) {
        static Setup of(int slots) {
            return new Setup(slots, 4096, false, List.of(), reader -> reader, System::nanoTime);
        }

        Setup withPrefetch() {
            return new Setup(slots, pieceBytes, true, roots, wrap, clock);
        }

        Setup withPieces(int bytes) {
            return new Setup(slots, bytes, prefetch, roots, wrap, clock);
        }

        Setup withRoots(List<Path> more) {
            return new Setup(slots, pieceBytes, prefetch, more, wrap, clock);
        }

        Setup wrapped(UnaryOperator<DriveReader> wrapper) {
            return new Setup(slots, pieceBytes, prefetch, roots, wrapper, clock);
        }

        Setup at(java.util.function.LongSupplier newClock) {
            return new Setup(slots, pieceBytes, prefetch, roots, wrap, newClock);
        }
    }

    static StreamingExperts open(FakeShards shards, Setup setup) {
        ExpertGeometry g = shards.geometry();
        List<Path> roots = setup.roots().isEmpty() ? List.of(shards.root()) : setup.roots();
        Access access = Access.probe(shards.root().resolve("shard-0"));
        ExpertImages images = new ExpertImages(shards, access.alignment());
        List<Drive> drives = new ArrayList<>();
        List<List<Copy>> copies = new ArrayList<>();
        for (int l = 0; l < g.layers(); l++) {
            copies.add(new ArrayList<>());
        }
        for (int d = 0; d < roots.size(); d++) {
            Drive drive = new Drive(d, roots.get(d), 1e9, 8 * setup.pieceBytes());
            drives.add(drive);
            RootFiles files = RootFiles.of(new DriveRoot(roots.get(d), 0), shards);
            for (int l = 0; l < g.layers(); l++) {
                files.addCopies(g.firstLayer() + l, images, drive, access, copies.get(l));
            }
        }
        ExpertCatalog catalog = new ExpertCatalog(images, drives, copies, setup.pieceBytes());
        catalog.requireWhole();
        AlignedMemory memory = AlignedMemory.map((long) setup.slots() * images.stride());
        DriveReader demand = setup.wrap().apply(NativeReader.pread(64, 4));
        DriveReader guess = setup.prefetch() ? setup.wrap().apply(NativeReader.pread(8, 2)) : null;
        StreamingOptions options = new StreamingOptions(
                setup.slots(),
                ai.deltafin.io.ReaderKind.AUTO,
                StreamingOptions.Prefetch.ON,
                0,
                setup.pieceBytes(),
                8 * setup.pieceBytes(),
                false);
        return new StreamingExperts(
                catalog,
                memory,
                setup.slots(),
                demand,
                guess,
                new BlendedPolicy(g, new Heat(g.keys()), new int[0]),
                options,
                setup.clock());
    }

    /** Runs one layer: demands, takes everything, compares every byte, releases. */
    static void runLayer(StreamingExperts source, FakeShards shards, int layer, int[] ids) {
        source.routed(layer, 1, ids, new float[ids.length], ids.length);
        runDemand(source, shards, layer, ids, ids.length);
    }

    static void runDemand(StreamingExperts source, FakeShards shards, int layer, int[] experts, int count) {
        int[] indices = new int[count];
        int taken = 0;
        try (ExpertSource.Demand demand = source.demand(layer, experts, count)) {
            for (int n = demand.take(indices); n > 0; n = demand.take(indices)) {
                for (int j = 0; j < n; j++) {
                    check(demand, shards, layer, experts[indices[j]], indices[j]);
                    demand.release(indices[j]);
                }
                taken += n;
            }
        }
        assertThat(taken).isEqualTo(count);
        assertThat(source.store.inconsistency()).isNull();
    }

    static void check(ExpertSource.Demand demand, FakeShards shards, int layer, int expert, int index) {
        for (ExpertTensor part : ExpertTensor.values()) {
            byte[] wanted = shards.expected(layer, expert, part);
            byte[] got = MemorySegment.ofAddress(demand.address(index, part))
                    .reinterpret(wanted.length)
                    .toArray(ValueLayout.JAVA_BYTE);
            assertThat(got).as("expert %d of layer %d, %s", expert, layer, part).isEqualTo(wanted);
        }
    }
}
