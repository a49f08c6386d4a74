package ai.deltafin.model;

/** How the routed experts of a layer are stored. */
public enum ExpertFormat {
    /** Three pairs {@code weight_packed}, {@code weight_scale}. */
    MXFP4,
    /** Three plain {@code weight} tensors of BF16. */
    BF16,
    /** Three plain {@code weight} tensors of F32. */
    F32
}
