package ai.deltafin.expert;

import ai.deltafin.model.Checkpoint;
import ai.deltafin.model.ExpertTable;
import ai.deltafin.model.ExpertTensor;
import ai.deltafin.model.K3Layout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The routed experts of an open checkpoint; the files are named relative to its directory. */
public final class CheckpointRanges implements ExpertRanges {
    private static final ExpertTensor[] TENSORS = ExpertTensor.values();

    private final ExpertGeometry geometry;
    private final ExpertTable[] tables; // [layers]
    private final List<String> files = new ArrayList<>();
    private final Map<Path, Integer> numbers = new HashMap<>();

    private CheckpointRanges(ExpertGeometry geometry, ExpertTable[] tables) {
        this.geometry = geometry;
        this.tables = tables;
    }

    /**
     * Takes the expert tables of a checkpoint's layout.
     *
     * @throws IllegalArgumentException if the model has no routed experts, or they do not lie in consecutive layers
     */
    public static CheckpointRanges of(Checkpoint checkpoint) {
        List<ExpertTable> tables = new ArrayList<>();
        for (K3Layout.LayerTensors layer : checkpoint.layout().layers()) {
            if (layer.ffn() instanceof K3Layout.MoeTensors moe) {
                tables.add(moe.experts());
            }
        }
        if (tables.isEmpty() || tables.getLast().layer() - tables.getFirst().layer() != tables.size() - 1) {
            throw new IllegalArgumentException(checkpoint.directory() + " has no run of layers with routed experts");
        }
        ExpertTable first = tables.getFirst();
        var geometry = new ExpertGeometry(
                first.layer(),
                tables.size(),
                first.experts(),
                checkpoint.config().moe().orElseThrow().perToken());
        var ranges = new CheckpointRanges(geometry, tables.toArray(ExpertTable[]::new));
        ranges.number(checkpoint.directory());
        return ranges;
    }

    private void number(Path directory) {
        for (ExpertTable table : tables) {
            for (int expert = 0; expert < table.experts(); expert++) {
                for (ExpertTensor tensor : TENSORS) {
                    if (table.bytes(tensor) > 0) {
                        numbers.computeIfAbsent(table.file(expert, tensor), file -> {
                            files.add(directory.relativize(file).toString());
                            return files.size() - 1;
                        });
                    }
                }
            }
        }
    }

    private ExpertTable table(int layer) {
        return tables[layer - geometry.firstLayer()];
    }

    @Override
    public ExpertGeometry geometry() {
        return geometry;
    }

    @Override
    public List<String> files() {
        return List.copyOf(files);
    }

    @Override
    public int file(int layer, int expert, ExpertTensor part) {
        return numbers.getOrDefault(table(layer).file(expert, part), -1);
    }

    @Override
    public long offset(int layer, int expert, ExpertTensor part) {
        return table(layer).offset(expert, part);
    }

    @Override
    public long bytes(int layer, int expert, ExpertTensor part) {
        return table(layer).bytes(part);
    }
}
