package ai.deltafin.kernel;

/** Instruction sets of the CPU provider (enum df_isa). All give the same bits. */
public enum Isa {
    BEST(0),
    SCALAR(1),
    AVX2(2),
    AVX512(3),
    NEON(4);

    final int code;

    Isa(int code) {
        this.code = code;
    }
}
