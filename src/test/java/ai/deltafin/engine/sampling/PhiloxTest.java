package ai.deltafin.engine.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The generator against its authors' vectors, the noise against vectors computed elsewhere. */
class PhiloxTest {

    @Test
    void givesTheAuthorsVectors() {
        int[] zeros = new int[4];
        Philox.scramble(zeros, 0, 0);
        assertThat(zeros).containsExactly(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
        int[] ones = {-1, -1, -1, -1};
        Philox.scramble(ones, -1, -1);
        assertThat(ones).containsExactly(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    }

    @ParameterizedTest
    @CsvSource({
        "42, 0, 0, 2110326069382831, 0.2770263490",
        "42, 0, 1, 1535103946796021, -0.0735096267",
        "42, 117, 13, 745904717907199, -0.5866940711",
        "7, 117, 13, 2676248527024258, 0.6530403531",
        "-2401053092306725256, 5000000000, 163839, 1202382642362411, -0.2780648781"
    })
    void noiseOfSeedPositionAndId(long seed, long position, int id, long k, double g) {
        GumbelNoise noise = new GumbelNoise(seed, 0);
        assertThat(noise.bits(position, id)).isEqualTo(k);
        assertThat(noise.at(position, id)).isCloseTo(g, within(1e-10));
    }

    @Test
    void staysWithinItsBounds() {
        double least = -Fp64.log(-Fp64.log(0.5 * 0x1p-52));
        double most = -Fp64.log(-Fp64.log(1 - 0x1p-53));
        assertThat(least).isCloseTo(-3.6038, within(1e-4));
        assertThat(most).isCloseTo(36.7368, within(1e-4)).isLessThan(GumbelNoise.MOST);
        assertThat(most - least).isLessThan(GumbelNoise.SPAN);
    }

    @Test
    void streamsDiffer() {
        assertThat(new GumbelNoise(42, 1).bits(0, 0)).isNotEqualTo(new GumbelNoise(42, 0).bits(0, 0));
    }
}
