package ai.deltafin.engine.sampling;

/**
 * exp and log in fp64 with one written order of operations, so that sampling gives the same bits on every machine and
 * can be repeated in C. Both are within two units in the last place of the true value.
 */
final class Fp64 {

    /** ln 2 in two parts; the high part has 21 zero bits at its end, so its product with an exponent is exact. */
    private static final double LN2_HIGH = 0x1.62e42feep-1;

    private static final double LN2_LOW = 0x1.a39ef35793c76p-33;
    private static final double LOG2_E = 0x1.71547652b82fep0;
    private static final double SQRT2 = 0x1.6a09e667f3bcdp0;

    /** 1/13!, 1/12!, ..., 1/0!: Taylor's series is exact to 2^-57 on |r| up to ln 2 / 2. */
    private static final double[] EXP = exponentialSeries(13);

    /** 1/23, 1/21, ..., 1/3, 1: the series of atanh on |f| up to 0.1716. */
    private static final double[] ATANH = atanhSeries(23);

    private Fp64() {}

    private static double[] exponentialSeries(int degree) {
        double[] series = new double[degree + 1];
        double factorial = 1;
        for (int i = 0; i <= degree; i++) {
            factorial *= Math.max(1, i);
            series[degree - i] = 1 / factorial;
        }
        return series;
    }

    private static double[] atanhSeries(int degree) {
        double[] series = new double[(degree + 1) / 2];
        for (int i = 0; i < series.length; i++) {
            series[i] = 1.0 / (degree - 2 * i);
        }
        return series;
    }

    /** e to the power x, for x up to 0; 0 below -745. */
    static double exp(double x) {
        if (x < -745) {
            return 0;
        }
        double k = Math.rint(x * LOG2_E);
        double r = Math.fma(-k, LN2_LOW, Math.fma(-k, LN2_HIGH, x));
        double sum = EXP[0];
        for (int i = 1; i < EXP.length; i++) {
            sum = Math.fma(sum, r, EXP[i]);
        }
        return Math.scalb(sum, (int) k);
    }

    /** The natural logarithm of a positive normal number. */
    static double log(double x) {
        int exponent = Math.getExponent(x);
        double mantissa = Math.scalb(x, -exponent);
        if (mantissa > SQRT2) {
            mantissa /= 2;
            exponent++;
        }
        double f = (mantissa - 1) / (mantissa + 1);
        double square = f * f;
        double sum = ATANH[0];
        for (int i = 1; i < ATANH.length; i++) {
            sum = Math.fma(sum, square, ATANH[i]);
        }
        return Math.fma(exponent, LN2_HIGH, Math.fma(exponent, LN2_LOW, 2 * f * sum));
    }
}
