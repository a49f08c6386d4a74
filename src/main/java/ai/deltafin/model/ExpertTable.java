package ai.deltafin.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where the routed experts of one MoE layer lie on disk. Kept as primitive arrays: the released model has 494,592 expert
 * tensors.
 *
 * <p>The <em>image</em> of an expert is its {@link #ranges} one after the other: what a reader has in memory after reading
 * them back to back. In the released shards that is one range (k3-model.md 2.4).
 */
public final class ExpertTable {
    private final int layer;
    private final int experts;
    private final ExpertFormat format;
    private final long[] pieceBytes;
    private final List<Path> files;
    private final long[] offsets;
    private final char[] fileIndex;

    /**
     * A complete table.
     *
     * @param pieceBytes bytes of each piece by {@link ExpertTensor#index}; 0 for one that does not exist
     * @param files the shards
     * @param offsets absolute offset by expert * 6 + index
     * @param fileIndex index into {@code files}, laid out like {@code offsets}
     */
    ExpertTable(
            int layer,
            int experts,
            ExpertFormat format,
            long[] pieceBytes,
            List<Path> files,
            long[] offsets,
            char[] fileIndex) {
        this.layer = layer;
        this.experts = experts;
        this.format = format;
        this.pieceBytes = pieceBytes.clone();
        this.files = List.copyOf(files);
        this.offsets = offsets;
        this.fileIndex = fileIndex;
    }

    /** Zero-based layer. */
    public int layer() {
        return layer;
    }

    /** Number of experts, E. */
    public int experts() {
        return experts;
    }

    /** How every expert of the layer is stored. */
    public ExpertFormat format() {
        return format;
    }

    /** Bytes of one piece, the same for every expert; 0 for scales that do not exist. */
    public long bytes(ExpertTensor piece) {
        return pieceBytes[piece.index()];
    }

    /** Bytes of one whole expert. */
    public long expertBytes() {
        return Arrays.stream(pieceBytes).sum();
    }

    /** The shard that holds a piece. */
    public Path file(int expert, ExpertTensor piece) {
        return files.get(fileIndex[slot(expert, piece)]);
    }

    /** Offset of a piece from the start of its file. */
    public long offset(int expert, ExpertTensor piece) {
        return offsets[slot(expert, piece)];
    }

    /** Whether the expert is one unbroken range of one file. */
    public boolean contiguous(int expert) {
        return ranges(expert).size() == 1;
    }

    /** The fewest ranges that hold the expert, by file and ascending offset. */
    public List<ExpertRange> ranges(int expert) {
        List<ExpertRange> ranges = new ArrayList<>(1);
        int lastFile = -1;
        long end = -1;
        for (ExpertTensor piece : physicalOrder(expert)) {
            int slot = slot(expert, piece);
            long offset = offsets[slot];
            if (fileIndex[slot] == lastFile && offset == end) {
                ExpertRange last = ranges.removeLast();
                ranges.add(new ExpertRange(last.file(), last.offset(), last.bytes() + bytes(piece)));
            } else {
                ranges.add(new ExpertRange(files.get(fileIndex[slot]), offset, bytes(piece)));
            }
            lastFile = fileIndex[slot];
            end = offset + bytes(piece);
        }
        return List.copyOf(ranges);
    }

    /** Offset of a piece in the image of its expert. */
    public long imageOffset(int expert, ExpertTensor piece) {
        long at = 0;
        for (ExpertTensor other : physicalOrder(expert)) {
            if (other == piece) {
                return at;
            }
            at += bytes(other);
        }
        throw new IllegalArgumentException(piece + " does not exist in " + format + " experts");
    }

    private List<ExpertTensor> physicalOrder(int expert) {
        List<ExpertTensor> order = new ArrayList<>(ExpertTensor.COUNT);
        for (int index = 0; index < ExpertTensor.COUNT; index++) {
            if (pieceBytes[index] != 0) {
                order.add(ExpertTensor.at(index));
            }
        }
        order.sort((a, b) -> {
            int x = slot(expert, a);
            int y = slot(expert, b);
            int byFile = Character.compare(fileIndex[x], fileIndex[y]);
            return byFile != 0 ? byFile : Long.compare(offsets[x], offsets[y]);
        });
        return order;
    }

    private int slot(int expert, ExpertTensor piece) {
        if (expert < 0 || expert >= experts) {
            throw new IndexOutOfBoundsException("expert " + expert + " of " + experts + " in layer " + layer);
        }
        if (pieceBytes[piece.index()] == 0) {
            throw new IllegalArgumentException(piece + " does not exist in " + format + " experts");
        }
        return expert * ExpertTensor.COUNT + piece.index();
    }
}
