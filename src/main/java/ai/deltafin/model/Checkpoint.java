package ai.deltafin.model;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model directory, read in place: config, shards and layout, all checked when it is opened. Tensors are mapped shard by
 * shard when first asked for, and unmapped by {@link #close}; no segment may be used after that. Safe for use by several
 * threads.
 */
public final class Checkpoint implements AutoCloseable {
    /** Up to so many scale bytes are checked when a checkpoint is opened; beyond, whoever reads an expert checks its own. */
    public static final long MAX_SCALES_CHECKED = 256L << 20;

    private static final long MAX_FILE_BYTES = 16L << 20;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort BF16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Path directory;
    private final K3Config config;
    private final List<SafetensorsFile> shards;
    private final TensorCatalog catalog;
    private final K3Layout layout;
    private final List<Integer> eosIds;
    private final Arena arena = Arena.ofShared();
    private final Map<Path, MemorySegment> maps = new HashMap<>();

    private Checkpoint(Path directory) {
        this.directory = directory;
        this.config = K3Config.read(directory.resolve("config.json"));
        this.eosIds = readEosIds();
        this.catalog = new TensorCatalog(config);
        var files = new Shards(directory);
        this.shards = new ArrayList<>();
        for (Path file : files.files()) {
            catalog.begin(file);
            shards.add(SafetensorsFile.read(file, catalog::add));
        }
        files.checkIndex(catalog);
        this.layout = new LayoutBuilder(directory, config, catalog).build();
    }

    /** Opens a model directory; throws {@link ModelException} for anything that is missing, damaged or not supported. */
    public static Checkpoint open(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw ModelException.mismatch(
                    directory,
                    "model",
                    "a directory with config.json and safetensors files",
                    ModelFiles.exists(directory) ? "something else" : "no such directory",
                    "check --model");
        }
        var checkpoint = new Checkpoint(directory);
        try {
            new ValueCheck(checkpoint).run();
            return checkpoint;
        } catch (RuntimeException | Error e) {
            checkpoint.close();
            throw e;
        }
    }

    /** Generation defaults win over the config, as in the released code. */
    private List<Integer> readEosIds() {
        Path file = directory.resolve("generation_config.json");
        if (ModelFiles.exists(file)) {
            var fields = new ConfigFields(file, "", ModelJson.object(file, MAX_FILE_BYTES));
            List<Integer> ids = fields.ids("eos_token_id", config.vocabSize());
            if (!ids.isEmpty()) {
                return ids;
            }
        }
        return config.tokens().eos();
    }

    /** The directory it was opened from. */
    public Path directory() {
        return directory;
    }

    /** Dimensions and choices. */
    public K3Config config() {
        return config;
    }

    /** Every tensor of the text model in its place. */
    public K3Layout layout() {
        return layout;
    }

    /** The shards, by name. */
    public List<SafetensorsFile> shards() {
        return List.copyOf(shards);
    }

    /** Ids that end an answer; may be empty. */
    public List<Integer> eosIds() {
        return eosIds;
    }

    /** A tensor by its name without the prefix {@code language_model.}; routed experts are found in the layout only. */
    public Optional<TensorInfo> find(String name) {
        return catalog.find(name);
    }

    /** Scales of matrices besides routed experts that are stored as MXFP4 pairs; the released model has none. */
    List<TensorInfo> spineScales() {
        return catalog.tensors().values().stream()
                .filter(tensor -> tensor.name().endsWith(".weight_scale"))
                .toList();
    }

    /** How many tensors all headers name, vision included. */
    public long tensorCount() {
        return catalog.count();
    }

    /** Bytes of all tensors of all shards, vision included. */
    public long totalTensorBytes() {
        return shards.stream().mapToLong(SafetensorsFile::dataBytes).sum();
    }

    /** The bytes of a tensor of this checkpoint, read-only, valid until {@link #close}. */
    public MemorySegment data(TensorInfo tensor) {
        return map(tensor.file()).asSlice(tensor.offset(), tensor.bytes());
    }

    /** The bytes of a piece of a routed expert, read-only, valid until {@link #close}. */
    public MemorySegment data(ExpertTable table, int expert, ExpertTensor piece) {
        return map(table.file(expert, piece)).asSlice(table.offset(expert, piece), table.bytes(piece));
    }

    /** The values of a small BF16 or F32 tensor, widened exactly. */
    public float[] floats(TensorInfo tensor) {
        MemorySegment data = data(tensor);
        var values = new float[Math.toIntExact(tensor.elements())];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (tensor.dtype()) {
                case F32 -> data.getAtIndex(F32, i);
                case BF16 -> Float.intBitsToFloat(data.getAtIndex(BF16, i) << 16);
                default -> throw new IllegalArgumentException(tensor.name() + " is " + tensor.dtype());
            };
        }
        return values;
    }

    private synchronized MemorySegment map(Path file) {
        return maps.computeIfAbsent(
                file,
                path -> shards.stream()
                        .filter(shard -> shard.path().equals(path))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException(path + " is no shard of " + directory))
                        .map(arena));
    }

    @Override
    public synchronized void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
