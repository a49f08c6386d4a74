package ai.deltafin.model;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All tensors of a checkpoint by name without prefix. Routed experts go to {@link ExpertCollector}s, which need a few bytes
 * a tensor; the others, some thirty a layer, are kept as they are.
 */
final class TensorCatalog {
    /** The wrapper's prefix of the text model; text-only exports drop it (k3-model.md 2.1). */
    static final String PREFIX = "language_model.";

    private static final List<String> VISION = List.of("vision_tower.", "mm_projector.");

    /** The released model has 2,628. */
    private static final int MAX_TENSORS = 200_000;

    private final K3Config config;
    private final Map<String, TensorInfo> tensors = new HashMap<>();
    private final Map<Integer, ExpertCollector> experts = new HashMap<>();
    private final List<Path> files = new ArrayList<>();
    private @Nullable TensorInfo firstPrefixed;
    private @Nullable TensorInfo firstBare;
    private long count;

    TensorCatalog(K3Config config) {
        this.config = config;
    }

    /** The tensor's name without the text model's prefix. */
    static String bare(String name) {
        return name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
    }

    /** Whether a tensor belongs to the vision tower, which answers to text do not use. */
    static boolean isVision(String name) {
        return VISION.stream().anyMatch(name::startsWith);
    }

    /** Takes one tensor of the file that was begun last. */
    void add(TensorInfo tensor) {
        checkPrefix(tensor);
        count++;
        String name = bare(tensor.name());
        ExpertName expert = ExpertName.parse(name);
        if (expert != null) {
            collector(expert.layer(), tensor).add(expert, tensor, files.size() - 1);
            return;
        }
        TensorInfo before = tensors.put(name, tensor);
        if (before != null) {
            throw twice(tensor, before.file());
        }
        if (tensors.size() > MAX_TENSORS) {
            throw ModelException.mismatch(
                    tensor.file(),
                    "tensors besides experts",
                    "at most " + MAX_TENSORS,
                    "more",
                    "this is not a model of this architecture");
        }
    }

    /** Begins a file; its tensors follow. */
    void begin(Path file) {
        files.add(file);
    }

    static ModelException twice(TensorInfo tensor, Path before) {
        return new ModelException(tensor.file() + ": " + tensor.name() + ": expected once, found again after " + before
                + "; keep only one copy of the tensor");
    }

    private void checkPrefix(TensorInfo tensor) {
        if (isVision(tensor.name())) {
            return;
        }
        if (tensor.name().startsWith(PREFIX)) {
            firstPrefixed = firstPrefixed == null ? tensor : firstPrefixed;
        } else {
            firstBare = firstBare == null ? tensor : firstBare;
        }
        if (firstPrefixed != null && firstBare != null) {
            throw ModelException.mismatch(
                    tensor.file(),
                    tensor.name(),
                    "all names with the prefix " + PREFIX + " or all without",
                    firstPrefixed.name() + " and " + firstBare.name(),
                    "do not mix two exports in one directory");
        }
    }

    private ExpertCollector collector(int layer, TensorInfo tensor) {
        if (layer >= config.layers() || !config.isMoe(layer)) {
            throw ModelException.mismatch(
                    tensor.file(),
                    tensor.name(),
                    layer >= config.layers() ? "layers below " + config.layers() : "a dense layer " + layer,
                    "a routed expert",
                    "config.json and the tensors belong to different models");
        }
        return experts.computeIfAbsent(layer, l -> new ExpertCollector(l, config, files));
    }

    /** A tensor that is no routed expert's. */
    Optional<TensorInfo> find(String name) {
        return Optional.ofNullable(tensors.get(name));
    }

    /** All tensors that are no routed expert's, by name. */
    Map<String, TensorInfo> tensors() {
        return tensors;
    }

    /** The collector of a layer; empty if the layer has no expert tensors at all. */
    Optional<ExpertCollector> experts(int layer) {
        return Optional.ofNullable(experts.get(layer));
    }

    /** How many tensors were added. */
    long count() {
        return count;
    }
}
