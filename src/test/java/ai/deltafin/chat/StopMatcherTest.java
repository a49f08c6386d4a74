package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class StopMatcherTest {

    @Provide
    Arbitrary<String> text() {
        return Arbitraries.strings().withChars('a', 'b', 'c').ofMaxLength(40);
    }

    @Provide
    Arbitrary<List<String>> stops() {
        return Arbitraries.strings()
                .withChars('a', 'b', 'c')
                .ofMinLength(1)
                .ofMaxLength(5)
                .list()
                .ofMaxSize(4);
    }

    /** Against the plain definition: the text up to the first place where a stop string begins. */
    @Property(tries = 2000)
    void push_givesTheTextBeforeTheFirstStop(
            @ForAll("text") String text, @ForAll("stops") List<String> stops, @ForAll long seed) {
        OptionalInt first =
                stops.stream().mapToInt(text::indexOf).filter(i -> i >= 0).min();
        StopMatcher matcher = new StopMatcher(stops);
        StringBuilder shown = new StringBuilder();
        Random random = new Random(seed);
        for (int at = 0; at < text.length(); ) {
            int end = Math.min(text.length(), at + random.nextInt(4));
            shown.append(matcher.push(text.substring(at, end)));
            at = end;
            if (first.isPresent()) {
                assertThat(shown.length()).isLessThanOrEqualTo(first.getAsInt());
            }
        }
        shown.append(matcher.finish());
        assertThat(shown.toString()).isEqualTo(text.substring(0, first.orElse(text.length())));
        assertThat(matcher.matched() != null).isEqualTo(first.isPresent());
    }

    @Test
    void bounds_areRefusedByName() {
        assertThatThrownBy(() -> new StopMatcher(Collections.nCopies(17, "x")))
                .isInstanceOfSatisfying(
                        ChatException.class, e -> assertThat(e.field()).isEqualTo("stop"));
        assertThatThrownBy(() -> new StopMatcher(List.of(""))).isInstanceOf(ChatException.class);
        assertThatThrownBy(() -> new StopMatcher(List.of("x".repeat(1025)))).isInstanceOf(ChatException.class);
    }
}
