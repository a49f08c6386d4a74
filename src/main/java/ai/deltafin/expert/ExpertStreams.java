package ai.deltafin.expert;

import ai.deltafin.io.Access;
import ai.deltafin.io.AlignedMemory;
import ai.deltafin.io.DriveReader;
import ai.deltafin.io.ReaderKind;
import ai.deltafin.io.StorageException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Opens {@link StreamingExperts}: finds what each root holds, probes how it can be read, takes the memory. */
final class ExpertStreams {
    private static final System.Logger LOG = System.getLogger(ExpertStreams.class.getName());
    private static final double FIRST_RATE = 2e9; // until measured

    private ExpertStreams() {}

    static StreamingExperts open(ExpertRanges ranges, List<DriveRoot> roots, StreamingOptions options, Heat heat) {
        ExpertGeometry geometry = ranges.geometry();
        List<RootFiles> found = new ArrayList<>();
        List<Access> accesses = new ArrayList<>();
        for (DriveRoot root : roots) {
            RootFiles files = RootFiles.of(root, ranges);
            Path sample = files.sample();
            if (sample == null) {
                throw new StorageException(
                        root.path()
                                + " holds no expert files of this model: name a directory with its shards or a pack",
                        0);
            }
            found.add(files);
            accesses.add(Access.probe(sample));
        }
        ReaderKind.Choice choice = options.reader().choose(accesses);
        int alignment = accesses.stream().mapToInt(Access::alignment).max().orElse(Access.MIN_ALIGNMENT);
        ExpertImages images = new ExpertImages(ranges, alignment);
        List<Drive> drives = new ArrayList<>();
        int window = Math.max(options.windowBytes(), 2 * options.pieceBytes());
        List<Integer> driveOf =
                Devices.group(roots.stream().map(DriveRoot::path).toList());
        for (int i = 0; i < roots.size(); i++) {
            if (driveOf.get(i) == drives.size()) {
                double share = roots.get(i).share();
                drives.add(new Drive(
                        drives.size(), roots.get(i).path(), share > 0 ? share * FIRST_RATE : FIRST_RATE, window));
            }
            Access access = accesses.get(i);
            LOG.log(
                    Level.INFO,
                    drives.get(driveOf.get(i)) + ": " + found.get(i).summary() + ", "
                            + (access.direct() ? "direct" : "buffered") + " reads (" + access.reason() + ")");
        }
        LOG.log(
                Level.INFO,
                "expert reader: " + (choice.ioUring() ? "io_uring" : "pread") + " (" + choice.reason() + ")");
        List<List<Copy>> copies = new ArrayList<>();
        for (int layer = geometry.firstLayer(); layer < geometry.firstLayer() + geometry.layers(); layer++) {
            List<Copy> ofLayer = new ArrayList<>();
            for (int i = 0; i < found.size(); i++) {
                found.get(i).addCopies(layer, images, drives.get(driveOf.get(i)), accesses.get(i), ofLayer);
            }
            copies.add(ofLayer);
        }
        ExpertCatalog catalog = new ExpertCatalog(images, drives, copies, options.pieceBytes());
        catalog.requireWhole();
        return open(catalog, choice, options, heat);
    }

    private static StreamingExperts open(
            ExpertCatalog catalog, ReaderKind.Choice choice, StreamingOptions options, Heat heat) {
        ExpertImages images = catalog.images();
        int slotCount = Math.min(
                options.slots(),
                images.geometry().keys() + 2 * images.geometry().k());
        long bytes = (long) slotCount * images.stride();
        AlignedMemory memory = AlignedMemory.map(bytes);
        if (options.prefault()) {
            memory.prefault(bytes);
        }
        int capacity = 4
                * catalog.drives().length
                * Math.max(2, options.windowBytes() / Math.min(options.pieceBytes(), images.stride()));
        int[] pins = Pins.choose(images, heat, options.pinBytes());
        ExpertPolicy policy = new BlendedPolicy(images.geometry(), heat, pins);
        DriveReader demand = choice.open(Math.clamp(capacity, 8, 1024));
        DriveReader guesses = options.prefetch() == StreamingOptions.Prefetch.OFF
                ? null
                : choice.open(Math.max(4, 4 * catalog.drives().length));
        return new StreamingExperts(catalog, memory, slotCount, demand, guesses, policy, options, System::nanoTime);
    }
}
