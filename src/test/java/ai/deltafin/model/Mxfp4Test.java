package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class Mxfp4Test {
    @Test
    void firstBadScale_findsEachValueAtEachPlace() {
        for (int length = 1; length <= 19; length++) {
            for (int at = 0; at < length; at++) {
                for (int value = 0; value < 256; value++) {
                    byte[] scales = new byte[length];
                    Arrays.fill(scales, (byte) (value % 2 == 0 ? 27 : 252));
                    scales[at] = (byte) value;
                    long expected = value < 27 || value > 252 ? at : -1;
                    assertThat(Mxfp4.firstBadScale(MemorySegment.ofArray(scales)))
                            .as("%d at %d of %d", value, at, length)
                            .isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void acceptedScales_keepEveryWeightFiniteAndNormal() {
        assertThat(Math.scalb(6f, Mxfp4.MAX_SCALE - 127)).isFinite();
        assertThat(Math.scalb(6f, Mxfp4.MAX_SCALE + 1 - 127)).isInfinite();
        assertThat(Math.scalb(1f, Mxfp4.MIN_SCALE - 127)).isEqualTo((float) Math.pow(2, -100));
    }

    @Test
    void checkScales_namesTheByte() {
        byte[] scales = {120, 121, (byte) 255};
        assertThatThrownBy(() -> Mxfp4.checkScales(MemorySegment.ofArray(scales), () -> "shard: expert 3"))
                .isInstanceOf(ModelException.class)
                .hasMessageContainingAll("shard: expert 3", "scale byte 2", "255", "not a number");
    }
}
