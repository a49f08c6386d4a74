package ai.deltafin.expert;

/**
 * The stored pieces of one routed expert (k3-model.md 2.2): w1 gate [F, Z], w2 down [Z, F], w3 up [F, Z]. Scales exist
 * only for MXFP4 experts.
 */
public enum ExpertPart {
    W1,
    W1_SCALES,
    W2,
    W2_SCALES,
    W3,
    W3_SCALES
}
