package ai.deltafin.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteSizeTest {

    @ParameterizedTest
    @CsvSource({"512MB,512000000", "24GiB,25769803776", "4096,4096", "1.5GB,1500000000", "'2 kib',2048", "0,0"})
    void parse_readsWhatPeopleWrite(String text, long bytes) {
        assertThat(ByteSize.parse(text)).isEqualTo(new ByteSize(bytes));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "MB", "-1", "1e9", "5XB", "99999999999TiB", "9999999999999999999", "1..5GB"})
    void parse_refusesTheRest(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Property
    void toString_isTheInverseOfParse(@ForAll @LongRange(min = 0, max = 1L << 50) long bytes) {
        assertThat(ByteSize.parse(new ByteSize(bytes).toString()).bytes()).isEqualTo(bytes);
    }

    @org.junit.jupiter.api.Test
    void auto_isNotANumber() {
        assertThat(ByteSize.parse("Auto")).isEqualTo(ByteSize.AUTO);
        assertThat(ByteSize.AUTO.orElse(7)).isEqualTo(7);
        assertThat(ByteSize.ZERO.orElse(7)).isZero();
        assertThat(ByteSize.AUTO).hasToString("auto");
    }
}
