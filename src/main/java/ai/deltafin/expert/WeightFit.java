package ai.deltafin.expert;

/**
 * Least squares of "is used by the next token" on four estimates of that probability, over a window of about 87 tokens
 * (expert-streaming.md 4.1). A fit that is singular, not finite or wild keeps the old weights.
 */
final class WeightFit {
    private static final int TERMS = 4;
    private static final double FADE = 0.9995;
    private static final double RIDGE = 1e-6;
    private static final int SAMPLE_EVERY = 4;
    private static final int SOLVE_EVERY = 32;
    private static final int WARM_UP = 60;
    private static final double LARGEST = 2;

    private final double[] xx = new double[TERMS * TERMS];
    private final double[] xy = new double[TERMS];
    private final double[] x = new double[TERMS];
    private double[] weights;
    private long tokens;
    private long solvedAt;

    WeightFit(double[] start) {
        weights = start.clone();
    }

    double[] weights() {
        return weights;
    }

    /** Counts tokens; true if they pass a multiple of four. */
    boolean due(int rows) {
        long before = tokens;
        tokens += rows;
        return before / SAMPLE_EVERY != tokens / SAMPLE_EVERY;
    }

    /** Before each layer's estimates: old ones count a little less. */
    void fade() {
        for (int i = 0; i < xx.length; i++) {
            xx[i] *= FADE;
        }
        for (int i = 0; i < TERMS; i++) {
            xy[i] *= FADE;
        }
    }

    void estimates(double x0, double x1, double x2, double x3, boolean used) {
        x[0] = x0;
        x[1] = x1;
        x[2] = x2;
        x[3] = x3;
        for (int i = 0; i < TERMS; i++) {
            for (int j = 0; j <= i; j++) {
                xx[i * TERMS + j] += x[i] * x[j];
            }
            if (used) {
                xy[i] += x[i];
            }
        }
    }

    void solveIfDue() {
        if (tokens < WARM_UP || tokens - solvedAt < SOLVE_EVERY) {
            return;
        }
        solvedAt = tokens;
        double[] l = xx.clone();
        for (int i = 0; i < TERMS; i++) {
            l[i * TERMS + i] += RIDGE;
        }
        double[] w = cholesky(l, xy.clone());
        for (double v : w) {
            if (!(Math.abs(v) <= LARGEST)) {
                return;
            }
        }
        weights = w;
    }

    /** Solves in place with the lower triangle of {@code a}; NaN where a pivot is not positive. */
    private static double[] cholesky(double[] a, double[] b) {
        for (int j = 0; j < TERMS; j++) {
            double pivot = a[j * TERMS + j];
            for (int k = 0; k < j; k++) {
                pivot -= a[j * TERMS + k] * a[j * TERMS + k];
            }
            double root = pivot > 0 ? Math.sqrt(pivot) : Double.NaN;
            a[j * TERMS + j] = root;
            for (int i = j + 1; i < TERMS; i++) {
                double sum = a[i * TERMS + j];
                for (int k = 0; k < j; k++) {
                    sum -= a[i * TERMS + k] * a[j * TERMS + k];
                }
                a[i * TERMS + j] = sum / root;
            }
        }
        for (int i = 0; i < TERMS; i++) {
            for (int k = 0; k < i; k++) {
                b[i] -= a[i * TERMS + k] * b[k];
            }
            b[i] /= a[i * TERMS + i];
        }
        for (int i = TERMS - 1; i >= 0; i--) {
            for (int k = i + 1; k < TERMS; k++) {
                b[i] -= a[k * TERMS + i] * b[k];
            }
            b[i] /= a[i * TERMS + i];
        }
        return b;
    }
}
