package ai.deltafin.model;

/**
 * The stored pieces of one routed expert in the order of the released shards (k3-model.md 2.4): w1 gate [F, Z], w2 down
 * [Z, F], w3 up [F, Z]. Plain experts have no scales.
 */
public enum ExpertTensor {
    W1(0),
    W1_SCALES(1),
    W2(2),
    W2_SCALES(3),
    W3(4),
    W3_SCALES(5);

    static final int COUNT = 6;

    /** The pieces by index, without a copy for every look. */
    private static final ExpertTensor[] ALL = values();

    private final int index;

    ExpertTensor(int index) {
        this.index = index;
    }

    static ExpertTensor at(int index) {
        return ALL[index];
    }

    /** Place in the released order, 0 to 5. */
    public int index() {
        return index;
    }

    /** Whether this piece holds the scales of an MXFP4 matrix. */
    public boolean isScales() {
        return index % 2 == 1;
    }

    /** Whether this piece belongs to w2, the only matrix that is [Z, F]. */
    boolean isDown() {
        return this == W2 || this == W2_SCALES;
    }

    /** Number of the matrix: 1, 2 or 3. */
    int matrix() {
        return index / 2 + 1;
    }
}
