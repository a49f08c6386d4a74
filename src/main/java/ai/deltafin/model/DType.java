package ai.deltafin.model;

import java.util.Arrays;
import java.util.Optional;

/**
 * Element types of safetensors files. All known ones are parsed, so that a header can be checked whole; the model's own
 * tensors may only be {@link #BF16}, {@link #F32} or {@link #U8} (k3-model.md 2.2).
 */
public enum DType {
    BF16(16),
    F32(32),
    U8(8),
    BOOL(8),
    I8(8),
    I16(16),
    U16(16),
    I32(32),
    U32(32),
    I64(64),
    U64(64),
    F16(16),
    F64(64),
    F8_E4M3(8),
    F8_E5M2(8),
    F8_E8M0(8),
    F6_E2M3(6),
    F6_E3M2(6),
    F4(4),
    C64(64);

    private final int bits;

    DType(int bits) {
        this.bits = bits;
    }

    /** Bits of one element. */
    public int bits() {
        return bits;
    }

    /** The type that a header spells so, if there is one. */
    static Optional<DType> named(String name) {
        return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
    }
}
