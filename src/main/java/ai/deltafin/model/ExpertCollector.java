package ai.deltafin.model;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gathers the routed experts of one layer, each tensor checked for shape and type as it comes (k3-model.md 2.2). */
final class ExpertCollector {
    private static final long ABSENT = -1;
    private static final String CURE = "config.json and the tensors belong to different models";

    private final int layer;
    private final K3Config config;
    private final K3Config.Moe moe;
    private final List<Path> files;
    private final long[] offsets;
    private final char[] fileIndex;
    private final BitSet indexed = new BitSet();
    private @Nullable ExpertFormat format;

    /** @param files all files so far; shared with the catalogue, which adds to it */
    ExpertCollector(int layer, K3Config config, List<Path> files) {
        this.layer = layer;
        this.config = config;
        this.moe = config.moe().orElseThrow();
        this.files = files;
        this.offsets = new long[moe.experts() * ExpertTensor.COUNT];
        this.fileIndex = new char[offsets.length];
        Arrays.fill(offsets, ABSENT);
    }

    void add(ExpertName name, TensorInfo tensor, int file) {
        if (name.expert() >= moe.experts()) {
            throw ModelException.mismatch(
                    tensor.file(), tensor.name(), "experts below num_experts " + moe.experts(), name.expert(), CURE);
        }
        checkFormat(name, tensor);
        List<Long> shape = List.of(rows(name.piece()), columns(name));
        if (!tensor.shape().equals(shape)) {
            throw ModelException.mismatch(tensor.file(), tensor.name(), "shape " + shape, tensor.shape(), CURE);
        }
        int slot = slot(name);
        if (offsets[slot] != ABSENT) {
            throw TensorCatalog.twice(tensor, files.get(fileIndex[slot]));
        }
        offsets[slot] = tensor.offset();
        fileIndex[slot] = (char) file;
    }

    private static int slot(ExpertName name) {
        return name.expert() * ExpertTensor.COUNT + name.piece().index();
    }

    private void checkFormat(ExpertName name, TensorInfo tensor) {
        ExpertFormat found = found(name, tensor);
        if (found == ExpertFormat.MXFP4 && !config.mxfp4()) {
            throw ModelException.mismatch(
                    tensor.file(),
                    tensor.name(),
                    "a plain weight, since config.json has no quantization_config",
                    "a packed one",
                    CURE);
        }
        if (format != null && found != format) {
            throw ModelException.mismatch(
                    tensor.file(),
                    tensor.name(),
                    "every expert of layer " + layer + " in " + format,
                    found,
                    "do not mix two exports in one directory");
        }
        format = found;
    }

    private static ExpertFormat found(ExpertName name, TensorInfo tensor) {
        if (name.plain()) {
            return switch (tensor.dtype()) {
                case BF16 -> ExpertFormat.BF16;
                case F32 -> ExpertFormat.F32;
                default -> throw wrongType(tensor, "BF16 or F32");
            };
        }
        if (tensor.dtype() != DType.U8) {
            throw wrongType(tensor, "U8");
        }
        return ExpertFormat.MXFP4;
    }

    private static ModelException wrongType(TensorInfo tensor, String expected) {
        return ModelException.mismatch(
                tensor.file(), tensor.name(), "dtype " + expected, tensor.dtype(), "use the released weights");
    }

    private int width() {
        return moe.latent().map(K3Config.Latent::size).orElse(config.hiddenSize());
    }

    private long rows(ExpertTensor piece) {
        return piece.isDown() ? width() : moe.expertSize();
    }

    private long columns(ExpertName name) {
        long columns = name.piece().isDown() ? moe.expertSize() : width();
        return name.plain() ? columns : columns / (name.piece().isScales() ? Mxfp4.GROUP : Mxfp4.PACKED);
    }

    /** The file that holds a tensor; null if it was not added. Marks it as listed by the index. */
    @Nullable
    Path markIndexed(ExpertName name) {
        int slot = name.expert() < moe.experts() ? slot(name) : -1;
        if (slot < 0 || offsets[slot] == ABSENT || name.plain() == (format == ExpertFormat.MXFP4)) {
            return null;
        }
        if (indexed.get(slot)) {
            return null;
        }
        indexed.set(slot);
        return files.get(fileIndex[slot]);
    }

    /** The complete table; throws for the first tensor that is missing. */
    ExpertTable table(Path directory) {
        ExpertFormat known = format == null ? ExpertFormat.MXFP4 : format;
        long[] bytes = new long[ExpertTensor.COUNT];
        for (int index = 0; index < bytes.length; index++) {
            bytes[index] = bytes(ExpertTensor.at(index), known);
        }
        for (int slot = 0; slot < offsets.length; slot++) {
            ExpertTensor piece = ExpertTensor.at(slot % ExpertTensor.COUNT);
            if (offsets[slot] == ABSENT && bytes[piece.index()] != 0) {
                throw new ModelException(directory + ": " + name(slot / ExpertTensor.COUNT, piece, known)
                        + ": expected in a shard, found in none; download the model again");
            }
        }
        return new ExpertTable(layer, moe.experts(), known, bytes, files, offsets, fileIndex);
    }

    private long bytes(ExpertTensor piece, ExpertFormat known) {
        long elements = (long) width() * moe.expertSize();
        return switch (known) {
            case MXFP4 -> elements / (piece.isScales() ? Mxfp4.GROUP : Mxfp4.PACKED);
            case BF16 -> piece.isScales() ? 0 : 2 * elements;
            case F32 -> piece.isScales() ? 0 : 4 * elements;
        };
    }

    private String name(int expert, ExpertTensor piece, ExpertFormat known) {
        String suffix = known != ExpertFormat.MXFP4 ? "" : piece.isScales() ? "_scale" : "_packed";
        return "model.layers." + layer + ".block_sparse_moe.experts." + expert + ".w" + piece.matrix() + ".weight"
                + suffix;
    }
}
