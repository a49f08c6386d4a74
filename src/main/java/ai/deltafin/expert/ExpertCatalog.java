package ai.deltafin.expert;

import ai.deltafin.model.ExpertTensor;
import java.util.Arrays;
import java.util.List;

/** Which copies hold which experts, and how an image is cut into pieces that any of them can serve. */
final class ExpertCatalog {
    /** Reads of this size keep a drive at full speed and share well among drives (expert-streaming.md 5). */
    static final int PIECE_BYTES = 1 << 20;

    /** Copies of a layer, as many as fit the bits of a mask. */
    static final int MAX_COPIES = 32;

    private final ExpertImages images;
    private final Drive[] drives;
    private final Copy[][] copies; // [layers]
    private final int[][] cuts; // [layers]: image positions where some pack begins or ends, ascending
    private final int pieceBytes;
    private final int maxPieces;

    /**
     * Takes what was found on the drives.
     *
     * @param copies of each layer, from the first MoE layer on, the preferred first
     * @param pieceBytes a multiple of the alignment
     */
    ExpertCatalog(ExpertImages images, List<Drive> drives, List<List<Copy>> copies, int pieceBytes) {
        this.images = images;
        this.drives = drives.toArray(Drive[]::new);
        this.pieceBytes = pieceBytes;
        this.copies = new Copy[copies.size()][];
        this.cuts = new int[copies.size()][];
        int most = 0;
        for (int i = 0; i < copies.size(); i++) {
            this.copies[i] = copies.get(i).toArray(Copy[]::new);
            if (this.copies[i].length > MAX_COPIES) {
                throw new IllegalArgumentException("more than " + MAX_COPIES + " copies of layer "
                        + (images.geometry().firstLayer() + i) + ": remove packs that are no longer needed");
            }
            this.cuts[i] = Arrays.stream(this.copies[i])
                    .filter(Copy.Pack.class::isInstance)
                    .map(Copy.Pack.class::cast)
                    .flatMapToInt(pack -> java.util.stream.IntStream.of(pack.from(), pack.to()))
                    .sorted()
                    .distinct()
                    .toArray();
            most = Math.max(most, this.cuts[i].length);
        }
        this.maxPieces = images.stride() / pieceBytes + 1 + ExpertTensor.values().length + most;
        if (maxPieces > SlotTable.MAX_PIECES) {
            throw new IllegalArgumentException("an expert of " + images.stride() + " bytes is cut into more than "
                    + SlotTable.MAX_PIECES + " pieces");
        }
    }

    ExpertImages images() {
        return images;
    }

    Drive[] drives() {
        return drives;
    }

    /** Most pieces an image is cut into. */
    int maxPieces() {
        return maxPieces;
    }

    Copy copy(int key, int index) {
        return copies[key / images.geometry().experts()][index];
    }

    /** Writes the ends of the pieces of an image to {@code ends} from {@code at} on and returns how many there are. */
    int cut(int key, int[] ends, int at) {
        int[] packs = cuts[key / images.geometry().experts()];
        int length = images.imageBytes(key);
        int n = 0;
        int from = 0;
        int window = 1;
        int pack = 0;
        while (from < length) {
            int to = Math.min(from + pieceBytes, length);
            while (window < images.windowCount(key) && images.windowStart(key, window) <= from) {
                window++;
            }
            if (window < images.windowCount(key)) {
                to = Math.min(to, images.windowStart(key, window));
            }
            while (pack < packs.length && packs[pack] <= from) {
                pack++;
            }
            if (pack < packs.length) {
                to = Math.min(to, packs[pack]);
            }
            ends[at + n++] = to;
            from = to;
        }
        return n;
    }

    /** The copies that hold [from, to) of an image, one bit each. */
    int holders(int key, int from, int to) {
        Copy[] all = copies[key / images.geometry().experts()];
        int expert = images.geometry().expert(key);
        int mask = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i].holds(expert, from, to)) {
                mask |= 1 << i;
            }
        }
        return mask;
    }

    /**
     * Checks that every expert can be read from somewhere.
     *
     * @throws ai.deltafin.io.StorageException naming the first layer and expert that no drive holds
     */
    void requireWhole() {
        int[] ends = new int[maxPieces];
        ExpertGeometry g = images.geometry();
        for (int key = 0; key < g.keys(); key++) {
            int n = images.imageBytes(key) == 0 ? 0 : cut(key, ends, 0);
            for (int p = 0; p < n; p++) {
                if (holders(key, p == 0 ? 0 : ends[p - 1], ends[p]) == 0) {
                    throw new ai.deltafin.io.StorageException(
                            "no drive holds expert " + g.expert(key) + " of layer " + g.layer(key)
                                    + ": name its drive with --drive or fetch its shard",
                            0);
                }
            }
        }
    }

    /** Every file some copy reads, once. */
    List<ai.deltafin.io.DriveFile> files() {
        return Arrays.stream(copies)
                .flatMap(Arrays::stream)
                .flatMap(Copy::files)
                .distinct()
                .toList();
    }
}
