package ai.deltafin.kernel;

/** How a matrix is stored (enum df_format). */
public enum Format {
    BF16(1),
    F32(2),
    MXFP4(3);

    final int code;

    Format(int code) {
        this.code = code;
    }
}
