package ai.deltafin.model;

/** A weight matrix [rows, cols], row-major, rows = outputs: either plain or an MXFP4 pair (k3-model.md 2.2, 2.3). */
public sealed interface Matrix {
    /** Outputs. */
    long rows();

    /** Inputs, the contraction axis. */
    long cols();

    /** Stored bytes, scales included. */
    long bytes();

    /** A matrix of BF16 or F32 elements. */
    record Plain(TensorInfo tensor, long rows, long cols) implements Matrix {
        @Override
        public long bytes() {
            return tensor.bytes();
        }
    }

    /**
     * A matrix of four-bit elements with one scale for 32 columns.
     *
     * @param packed U8 [rows, cols/2], the even column in the low nibble
     * @param scales U8 [rows, cols/32], exponents with bias 127
     */
    record Mxfp4(TensorInfo packed, TensorInfo scales, long rows, long cols) implements Matrix {
        @Override
        public long bytes() {
            return packed.bytes() + scales.bytes();
        }
    }
}
