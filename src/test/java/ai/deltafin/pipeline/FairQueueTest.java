package ai.deltafin.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FairQueueTest {

    private final FairQueue<String> queue = new FairQueue<>();

    private List<String> drain() {
        List<String> order = new ArrayList<>();
        for (String next = queue.poll(); next != null; next = queue.poll()) {
            order.add(next);
        }
        return order;
    }

    @Test
    void poll_keepsTheOrderOfOneClient() {
        List.of("1", "2", "3").forEach(item -> queue.add("a", item));
        assertThat(drain()).containsExactly("1", "2", "3");
        assertThat(queue.poll()).isNull();
    }

    @Test
    void poll_letsClientsTakeTurns() {
        List.of("a1", "a2", "a3").forEach(item -> queue.add("a", item));
        queue.add("b", "b1");
        queue.add("c", "c1");
        assertThat(queue.inTurn()).containsExactly("a1", "b1", "c1", "a2", "a3");
        assertThat(drain()).containsExactly("a1", "b1", "c1", "a2", "a3");
    }

    @Test
    void poll_letsOthersGoFirstThoughTheLastOneCameBackSooner() {
        queue.add("a", "a1");
        assertThat(queue.poll()).isEqualTo("a1");
        queue.add("a", "a2");
        queue.add("b", "b1");
        assertThat(drain()).containsExactly("b1", "a2");
    }

    @Test
    void removeIf_leavesNoEmptyClient() {
        queue.add("a", "a1");
        queue.add("b", "b1");
        queue.removeIf(item -> item.startsWith("a"));
        assertThat(queue.size()).isEqualTo(1);
        assertThat(drain()).containsExactly("b1");
    }
}
