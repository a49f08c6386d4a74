package ai.deltafin.pipeline;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests in the order of arrival for each client, the clients taking turns: many requests of one do not starve the one
 * of another. Used by one thread.
 *
 * @param <T> what waits
 */
final class FairQueue<T> {

    /** Clients that have something waiting, in the order of their turns. */
    private final Map<String, Deque<T>> clients = new LinkedHashMap<>();

    /** The client that had the last turn; it lets others go first even if it came back before them. */
    private String last = "";

    void add(String client, T item) {
        clients.computeIfAbsent(client, _ -> new ArrayDeque<>()).add(item);
    }

    /** The request whose turn it is; null when none waits. */
    @Nullable
    T poll() {
        if (clients.isEmpty()) {
            return null;
        }
        String client = clients.keySet().stream()
                .filter(other -> !other.equals(last))
                .findFirst()
                .orElse(last);
        last = client;
        Deque<T> items = clients.remove(client);
        if (items == null) {
            throw new AssertionError("a client of the queue has no requests");
        }
        T item = items.poll();
        if (!items.isEmpty()) {
            clients.put(client, items);
        }
        return item;
    }

    /** Takes out everything that fits. */
    void removeIf(Predicate<T> unwanted) {
        clients.values().forEach(items -> items.removeIf(unwanted));
        clients.values().removeIf(Deque::isEmpty);
    }

    /** Everything that waits, in the order in which {@link #poll} would give it if nothing were added. */
    List<T> inTurn() {
        List<T> order = new ArrayList<>();
        List<Iterator<T>> rounds =
                new ArrayList<>(clients.values().stream().map(Deque::iterator).toList());
        while (!rounds.isEmpty()) {
            rounds.removeIf(items -> !items.hasNext());
            rounds.forEach(items -> order.add(items.next()));
        }
        return order;
    }

    int size() {
        return clients.values().stream().mapToInt(Deque::size).sum();
    }
}
