package ai.deltafin.expert;

import ai.deltafin.io.Access;
import ai.deltafin.io.DriveFile;
import ai.deltafin.model.ExpertTensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The shards and packs of a model that one root holds. */
final class RootFiles {
    private final ExpertRanges ranges;
    private final List<@Nullable Path> shards; // by file number; null = not here
    private final List<ExpertPack> packs;
    private final Map<Path, DriveFile> open = new HashMap<>();

    private RootFiles(ExpertRanges ranges, List<@Nullable Path> shards, List<ExpertPack> packs) {
        this.ranges = ranges;
        this.shards = shards;
        this.packs = packs;
    }

    static RootFiles of(DriveRoot root, ExpertRanges ranges) {
        List<@Nullable Path> shards = new java.util.ArrayList<>();
        for (String name : ranges.files()) {
            Path path = root.path().resolve(name);
            shards.add(Files.isRegularFile(path) ? path : null);
        }
        return new RootFiles(ranges, shards, ExpertPack.findAll(root.path(), ranges));
    }

    /** Some file of this root that experts are read from; null if there is none. */
    @Nullable
    Path sample() {
        for (Path shard : shards) {
            if (shard != null) {
                return shard;
            }
        }
        return packs.isEmpty()
                ? null
                : packs.getFirst().file(packs.getFirst().experts().firstKey());
    }

    String summary() {
        long here = shards.stream().filter(java.util.Objects::nonNull).count();
        return here + " of " + shards.size() + " shards"
                + (packs.isEmpty() ? "" : ", " + packs.size() + (packs.size() == 1 ? " pack" : " packs"));
    }

    /** Adds this root's copies of a layer. */
    void addCopies(int layer, ExpertImages images, Drive drive, Access access, List<Copy> out) {
        for (ExpertPack pack : packs) {
            if (pack.holds(layer) && pack.fits(images)) {
                out.add(pack.copy(layer, drive, file(pack.file(layer), drive, access)));
            }
        }
        DriveFile[] files = new DriveFile[shards.size()];
        ExpertGeometry g = ranges.geometry();
        for (int expert = 0; expert < g.experts(); expert++) {
            for (ExpertTensor part : ExpertTensor.values()) {
                if (ranges.bytes(layer, expert, part) > 0) {
                    int number = ranges.file(layer, expert, part);
                    Path shard = shards.get(number);
                    if (shard == null) {
                        return; // the layer is not whole here
                    }
                    if (files[number] == null) {
                        files[number] = file(shard, drive, access);
                    }
                }
            }
        }
        out.add(new Copy.Shards(drive, images, layer, files));
    }

    private DriveFile file(Path path, Drive drive, Access access) {
        return open.computeIfAbsent(path, p -> DriveFile.open(p, drive.id(), access));
    }
}
