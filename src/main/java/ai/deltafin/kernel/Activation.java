package ai.deltafin.kernel;

/** The gate function of a feed-forward block (enum df_activation; k3-model.md 3.8). */
public sealed interface Activation {
    /**
     * b1 tanh(g/b1) sig(g) times b2 tanh(u/b2).
     *
     * @param b1 cap of the gate branch
     * @param b2 cap of the up branch; 0 leaves it uncapped
     */
    record Situ(float b1, float b2) implements Activation {}

    /** g sig(g) times u. */
    record Silu() implements Activation {}

    /** The code of the ABI. */
    default int code() {
        return this instanceof Situ ? 1 : 2;
    }

    /** b1 of the ABI; unused by SiLU. */
    default float gateCap() {
        return this instanceof Situ s ? s.b1 : 0;
    }

    /** b2 of the ABI; unused by SiLU. */
    default float upCap() {
        return this instanceof Situ s ? s.b2 : 0;
    }
}
