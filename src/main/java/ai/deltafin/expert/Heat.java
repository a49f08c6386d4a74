package ai.deltafin.expert;

/**
 * How often each expert was used, decayed by committed tokens (half-life 16,384): the long memory of the cache, kept
 * between runs by {@link HeatFile}. Advisory: it decides when bytes move, never what comes out.
 */
public final class Heat {
    /** Committed tokens after which a use counts half. */
    public static final double HALF_LIFE = 16384;

    /** A chunk of a prompt counts at most this many tokens: long prompts must not own the histogram. */
    static final int MAX_CHUNK_WEIGHT = 32;

    private static final double[] DECAY = new double[MAX_CHUNK_WEIGHT + 1];

    static {
        for (int tokens = 0; tokens < DECAY.length; tokens++) {
            DECAY[tokens] = StrictMath.pow(2, -tokens / HALF_LIFE);
        }
    }

    private final float[] uses;
    private double mass;

    /** No uses yet. */
    public Heat(int keys) {
        this.uses = new float[keys];
    }

    Heat(float[] uses, double mass) {
        this.uses = uses;
        this.mass = mass;
    }

    public int keys() {
        return uses.length;
    }

    /** Decayed number of tokens seen. */
    public double mass() {
        return mass;
    }

    /** Decayed uses of an expert. */
    public float uses(int key) {
        return uses[key];
    }

    float[] uses() {
        return uses;
    }

    /** Ages everything by at most {@link #MAX_CHUNK_WEIGHT} tokens and counts them. */
    void age(int tokens) {
        double factor = DECAY[tokens];
        for (int i = 0; i < uses.length; i++) {
            uses[i] = (float) (uses[i] * factor);
        }
        mass = mass * factor + tokens;
    }

    void use(int key, float weight) {
        uses[key] += weight;
    }

    /** A copy that later uses do not change. */
    public Heat copy() {
        return new Heat(uses.clone(), mass);
    }
}
