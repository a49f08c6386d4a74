package ai.deltafin.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The operands of one KDA recurrence (df_kda_op; k3-model.md 3.5.6); filled anew for every call. */
public final class KdaCall {
    private final MemorySegment op;

    /** A call for heads of {@code headDim} channels. */
    public KdaCall(Arena arena, long heads, long headDim) {
        op = arena.allocate(88, 8);
        op.set(ValueLayout.JAVA_LONG, 56, heads);
        op.set(ValueLayout.JAVA_LONG, 64, headDim);
    }

    /**
     * Where the operands are.
     *
     * @param state fp32 [heads][D key][D value]
     * @param q fp32 [T][heads*D], normalised and scaled; k, v, alpha likewise
     * @param beta fp32 [T][heads]
     * @param out fp32 [T][heads*D]
     */
    public KdaCall operands(long state, long q, long k, long v, long alpha, long beta, long out) {
        op.set(ValueLayout.JAVA_LONG, 0, state);
        op.set(ValueLayout.JAVA_LONG, 8, q);
        op.set(ValueLayout.JAVA_LONG, 16, k);
        op.set(ValueLayout.JAVA_LONG, 24, v);
        op.set(ValueLayout.JAVA_LONG, 32, alpha);
        op.set(ValueLayout.JAVA_LONG, 40, beta);
        op.set(ValueLayout.JAVA_LONG, 48, out);
        return this;
    }

    /**
     * Which rows do what.
     *
     * @param rows rows of the operands
     * @param keep the state is written as it stands after this many rows
     * @param outFrom first row whose output is wanted
     */
    public KdaCall rows(int rows, int keep, int outFrom) {
        op.set(ValueLayout.JAVA_INT, 72, rows);
        op.set(ValueLayout.JAVA_INT, 76, keep);
        op.set(ValueLayout.JAVA_INT, 80, outFrom);
        return this;
    }

    long address() {
        return op.address();
    }
}
