package ai.deltafin.expert;

/**
 * Which layers have routed experts and how many.
 *
 * @param firstLayer zero-based number of the first MoE layer
 * @param layers how many layers from there on
 * @param experts routed experts of a layer
 * @param k experts that a row chooses
 */
public record ExpertGeometry(int firstLayer, int layers, int experts, int k) {
    public ExpertGeometry {
        if (firstLayer < 0 || layers < 1 || experts < 1 || k < 1 || k > experts || (long) layers * experts >= 1 << 17) {
            throw new IllegalArgumentException("no such experts: first layer " + firstLayer + ", layers " + layers
                    + ", experts " + experts + ", k " + k);
        }
    }

    /** Number of an expert among all, layer by layer: below 2^17. */
    public int key(int layer, int expert) {
        return (layer - firstLayer) * experts + expert;
    }

    /** The layer of a key. */
    public int layer(int key) {
        return firstLayer + key / experts;
    }

    /** The expert, within its layer, of a key. */
    public int expert(int key) {
        return key % experts;
    }

    /** How many keys there are. */
    public int keys() {
        return layers * experts;
    }
}
