package ai.deltafin.model;

import ai.deltafin.model.K3Layout.KdaTensors;
import ai.deltafin.model.K3Layout.LayerTensors;
import ai.deltafin.model.K3Layout.MoeTensors;
import java.lang.foreign.MemorySegment;

/**
 * The checks that need values and not only headers: padding of A_log, a stored head of a tied model, and the scale bytes of
 * checkpoints small enough for it; those of the spine, which is always resident, are checked at any size.
 */
final class ValueCheck {
    private final Checkpoint checkpoint;
    private final K3Layout layout;

    ValueCheck(Checkpoint checkpoint) {
        this.checkpoint = checkpoint;
        this.layout = checkpoint.layout();
    }

    void run() {
        tiedHead();
        for (LayerTensors layer : layout.layers()) {
            if (layer.attention() instanceof KdaTensors kda) {
                padding(kda.aLog(), checkpoint.config().kda().orElseThrow().heads());
            }
        }
        for (TensorInfo scales : checkpoint.spineScales()) {
            Mxfp4.checkScales(checkpoint.data(scales), () -> scales.file() + ": " + scales.name());
        }
        if (scaleBytes() <= Checkpoint.MAX_SCALES_CHECKED) {
            layout.layers().stream().map(LayerTensors::ffn).forEach(this::scales);
        }
    }

    private void padding(TensorInfo decayScale, int heads) {
        if (decayScale.elements() > 1L << 20) {
            throw ModelException.mismatch(
                    decayScale.file(),
                    decayScale.name(),
                    "some " + heads + " values",
                    decayScale.elements(),
                    "use the released weights");
        }
        float[] values = checkpoint.floats(decayScale);
        for (int i = heads; i < values.length; i++) {
            if (values[i] != 0) {
                throw ModelException.mismatch(
                        decayScale.file(),
                        decayScale.name(),
                        "zeros behind the " + heads + " heads",
                        values[i] + " at " + i,
                        "config.json and the tensors belong to different models");
            }
        }
    }

    private void tiedHead() {
        if (!checkpoint.config().tiedEmbeddings()) {
            return;
        }
        checkpoint.find("lm_head.weight").ifPresent(head -> {
            MemorySegment embedding = checkpoint.data(layout.embed().tensor());
            long differs = embedding.mismatch(checkpoint.data(head));
            if (differs >= 0) {
                throw ModelException.mismatch(
                        head.file(),
                        head.name(),
                        "the bytes of the embedding, since tie_word_embeddings is true",
                        "another value at byte " + differs,
                        "set tie_word_embeddings as the model was trained");
            }
        });
    }

    private long scaleBytes() {
        return layout.layers().stream()
                .map(layer -> layer.ffn() instanceof MoeTensors moe ? moe.experts() : null)
                .filter(table -> table != null)
                .mapToLong(ValueCheck::scaleBytes)
                .sum();
    }

    private static long scaleBytes(ExpertTable table) {
        return table.experts()
                * (table.bytes(ExpertTensor.W1_SCALES)
                        + table.bytes(ExpertTensor.W2_SCALES)
                        + table.bytes(ExpertTensor.W3_SCALES));
    }

    private void scales(K3Layout.Ffn ffn) {
        if (!(ffn instanceof MoeTensors moe) || moe.experts().format() != ExpertFormat.MXFP4) {
            return;
        }
        ExpertTable table = moe.experts();
        for (int expert = 0; expert < table.experts(); expert++) {
            for (ExpertTensor piece : ExpertTensor.values()) {
                if (piece.isScales()) {
                    String where = table.file(expert, piece) + ": layer " + table.layer() + " expert " + expert + " w"
                            + piece.matrix() + ".weight_scale";
                    Mxfp4.checkScales(checkpoint.data(table, expert, piece), () -> where);
                }
            }
        }
    }
}
