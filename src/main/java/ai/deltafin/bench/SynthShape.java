package ai.deltafin.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * The dimensions of a synthetic checkpoint, named as in k3-model.md 0.
 *
 * @param vocab V
 * @param hidden H
 * @param layers how many; the first is dense, every fourth and the last are MLA
 * @param block layers of an attention-residual block
 * @param kdaHeads N
 * @param kdaDim D
 * @param conv W
 * @param mlaHeads A
 * @param queryRank Rq
 * @param latentRank Rc
 * @param nopeDim dn
 * @param ropeDim dr
 * @param valueDim dv
 * @param dense Fd
 * @param experts E
 * @param perToken k
 * @param expertWidth F
 * @param expertInput Z
 * @param shared experts' width of the always-active block
 */
public record SynthShape(
        int vocab,
        int hidden,
        int layers,
        int block,
        int kdaHeads,
        int kdaDim,
        int conv,
        int mlaHeads,
        int queryRank,
        int latentRank,
        int nopeDim,
        int ropeDim,
        int valueDim,
        int dense,
        int experts,
        int perToken,
        int expertWidth,
        int expertInput,
        int shared) {

    /** Kimi K3's own dimensions (k3-model.md 1). */
    public static final SynthShape K3 = new SynthShape(
            163840, 7168, 93, 12, 96, 128, 4, 96, 1536, 512, 128, 64, 128, 33792, 896, 16, 3072, 3584, 2);

    /** The dimensions of the demo model. */
    public static final SynthShape DEMO =
            new SynthShape(6144, 256, 13, 3, 4, 64, 4, 4, 96, 64, 48, 16, 64, 768, 64, 16, 96, 128, 2);

    public SynthShape {
        if (layers < 2 || vocab < 8 || experts < 2 || perToken < 1 || perToken > experts) {
            throw new IllegalArgumentException(
                    "a synthetic checkpoint needs 2 or more layers, 8 or more ids and at least " + perToken
                            + " experts: got " + layers + " layers, " + vocab + " ids, " + experts + " experts");
        }
    }

    /** The same with other counts; 0 keeps one. */
    public SynthShape with(int newLayers, int newExperts, int newVocab) {
        int e = newExperts > 0 ? newExperts : experts;
        return new SynthShape(
                newVocab > 0 ? newVocab : vocab,
                hidden,
                newLayers > 0 ? newLayers : layers,
                block,
                kdaHeads,
                kdaDim,
                conv,
                mlaHeads,
                queryRank,
                latentRank,
                nopeDim,
                ropeDim,
                valueDim,
                dense,
                e,
                Math.min(perToken, e),
                expertWidth,
                expertInput,
                shared);
    }

    /** Whether a zero-based layer has full attention. */
    public boolean mla(int layer) {
        return (layer + 1) % 4 == 0 || layer == layers - 1;
    }

    /** One-based numbers of the layers with or without full attention, as the config lists them. */
    List<Integer> layerNumbers(boolean full) {
        List<Integer> numbers = new ArrayList<>();
        for (int l = 0; l < layers; l++) {
            if (mla(l) == full) {
                numbers.add(l + 1);
            }
        }
        return numbers;
    }
}
