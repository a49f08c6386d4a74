package ai.deltafin.kernel;

/**
 * A matrix that kernels can read, row-major.
 *
 * @param address first weight (BF16, F32) or first packed byte (MXFP4: two columns a byte, low nibble first)
 * @param scales first scale byte, one for 32 columns (MXFP4), else 0
 * @param rows outputs
 * @param cols inputs
 */
public record DeviceMatrix(Format format, long address, long scales, long rows, long cols) {

    /** Consecutive rows of this matrix; not for MXFP4, whose scales would have to move along. */
    public DeviceMatrix rowRange(long first, long count) {
        if (format == Format.MXFP4 || first < 0 || count < 0 || first + count > rows) {
            throw new IllegalArgumentException("rows " + first + "+" + count + " of " + this);
        }
        long bytesPerRow = cols * (format == Format.BF16 ? 2 : 4);
        return new DeviceMatrix(format, address + first * bytesPerRow, 0, count, cols);
    }
}
