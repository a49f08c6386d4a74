package ai.deltafin.expert;

import ai.deltafin.io.DriveFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;

/**
 * A pack: a directory with one file a layer that holds the images of some or all of its experts, or the same part of
 * each of them, back to back and aligned (expert-streaming.md 5.3). Whole packs, copies of hot experts and the tails
 * and stripes of several drives are all packs.
 *
 * @param directory where it lies
 * @param digest of the model's expert layout, so that a pack is never read for another model
 * @param alignment what all offsets are multiples of
 * @param from first byte of each image that the pack holds
 * @param to end of that part; as long as the layer's largest image, or shorter
 * @param experts the experts of each layer it has, in file order
 */
record ExpertPack(
        Path directory, String digest, int alignment, int from, int to, SortedMap<Integer, List<Integer>> experts) {

    static List<ExpertPack> findAll(Path root, ExpertRanges ranges) {
        return PackFiles.findAll(root, ranges);
    }

    /** The file of a layer. */
    Path file(int layer) {
        return directory.resolve("L%03d.part".formatted(layer));
    }

    /** The CRC32C of each part in that file. */
    Path sums(int layer) {
        return directory.resolve("L%03d.sum".formatted(layer));
    }

    boolean holds(int layer) {
        return experts.containsKey(layer) && Files.isRegularFile(file(layer));
    }

    /** Whether its images are laid out as this store lays them out. */
    boolean fits(ExpertImages images) {
        return alignment == images.alignment();
    }

    Copy.Pack copy(int layer, Drive drive, DriveFile file) {
        List<Integer> here = experts.getOrDefault(layer, List.of());
        int[] position = new int[here.stream().mapToInt(e -> e + 1).max().orElse(0)];
        Arrays.fill(position, -1);
        for (int i = 0; i < here.size(); i++) {
            position[here.get(i)] = i;
        }
        return new Copy.Pack(drive, file, position, from, to);
    }
}
