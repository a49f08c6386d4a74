package ai.deltafin.engine.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** Own exp and log against fdlibm's. */
class Fp64Test {

    @Test
    void logIsWithinTwoUnitsInTheLastPlace() {
        Random random = new Random(1);
        for (int i = 0; i < 200_000; i++) {
            double x = switch (i % 4) {
                case 0 -> random.nextDouble() + 0x1p-54;
                case 1 -> 1 - random.nextDouble() * 1e-9;
                case 2 -> random.nextDouble() * 50;
                default -> Math.scalb(1 + random.nextDouble(), random.nextInt(400) - 200);
            };
            double expected = StrictMath.log(x);
            assertThat(Math.abs(Fp64.log(x) - expected)).isLessThanOrEqualTo(2 * Math.ulp(expected));
        }
        assertThat(Fp64.log(1)).isZero();
    }

    @Test
    void expIsWithinTwoUnitsInTheLastPlace() {
        Random random = new Random(2);
        for (int i = 0; i < 200_000; i++) {
            double x = -random.nextDouble() * (i % 2 == 0 ? 1 : 700);
            double expected = StrictMath.exp(x);
            assertThat(Math.abs(Fp64.exp(x) - expected)).isLessThanOrEqualTo(2 * Math.ulp(expected));
        }
        assertThat(Fp64.exp(0)).isEqualTo(1);
        assertThat(Fp64.exp(-1000)).isZero();
        assertThat(Fp64.exp(Double.NEGATIVE_INFINITY)).isZero();
    }

    @Test
    void keepTheirBits() {
        // These bits are what a port to another language must give.
        assertThat(Fp64.log(0.3)).isEqualTo(-0x1.34378fcbda721p0);
        assertThat(Fp64.exp(-0.7)).isEqualTo(0x1.fc80db9dd5542p-2);
    }
}
