package ai.deltafin.engine.sampling;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs a grammar symbol by symbol. A state is the set of places where the grammar can stand, each with the calls it has
 * to come back from; states and their steps are made when first needed and kept. For one thread.
 */
final class Automaton {

    /** Calls inside each other beyond which no rule named with {@link Grammar#NESTING} is entered. */
    static final int MAX_DEPTH = 128;

    /** Beyond these many states the collection is started afresh from the present one. */
    static final int MAX_STATES = 20_000;

    private static final int MAX_MASKS = 256;

    /** Calls to come back from, the innermost first. Equal ones are one object, so they compare by identity. */
    private static final class Frame {
        private final int target;
        private final @Nullable Frame outer;
        private final int depth;

        private Frame(int target, @Nullable Frame outer) {
            this.target = target;
            this.outer = outer;
            depth = outer == null ? 1 : outer.depth + 1;
        }
    }

    private record FrameKey(int target, @Nullable Frame outer) {}

    /** A node and the calls around it. */
    private record Place(int node, @Nullable Frame stack) {}

    /** Where the grammar can stand. */
    static final class State {
        /** Places that take a symbol. */
        private final List<Place> places;

        private final @Nullable State[] steps = new State[256];
        private final BitSet known = new BitSet(256);
        private @Nullable BitSet mask;

        private State(List<Place> places) {
            this.places = places;
        }
    }

    private final Grammar grammar;
    private final Map<FrameKey, Frame> frames = new HashMap<>();
    private final Map<Set<Place>, State> states = new HashMap<>();
    private final List<State> masked = new ArrayList<>();

    Automaton(Grammar grammar) {
        this.grammar = grammar;
    }

    /** The state before a rule's first symbol. */
    State start(String rule) {
        return state(List.of(new Place(grammar.rule(rule).start(), null)));
    }

    /** The state of all places that can be reached from these without a symbol. */
    private State state(List<Place> seeds) {
        Set<Place> seen = new HashSet<>();
        Set<Place> taking = new LinkedHashSet<>();
        List<Place> open = new ArrayList<>(seeds);
        while (!open.isEmpty()) {
            Place place = open.removeLast();
            if (!seen.add(place)) {
                continue;
            }
            if (!grammar.edgesFrom(place.node).isEmpty()) {
                taking.add(place);
            }
            grammar.freeFrom(place.node).forEach(next -> open.add(new Place(next, place.stack)));
            if (!grammar.callAt(place.node).isEmpty()) {
                call(place, open);
            }
            leave(place, open);
        }
        return states.computeIfAbsent(taking, set -> new State(List.copyOf(set)));
    }

    private void call(Place place, List<Place> open) {
        int depth = place.stack == null ? 0 : place.stack.depth;
        String name = grammar.callAt(place.node);
        if (depth < MAX_DEPTH || !name.startsWith(Grammar.NESTING)) {
            int target = grammar.returnFrom(place.node);
            Frame frame =
                    frames.computeIfAbsent(new FrameKey(target, place.stack), key -> new Frame(key.target, key.outer));
            open.add(new Place(grammar.rule(name).start(), frame));
        }
    }

    private void leave(Place place, List<Place> open) {
        if (place.stack != null && grammar.endsRule(place.node)) {
            open.add(new Place(place.stack.target, place.stack.outer));
        }
    }

    /** The state behind a byte; null if the byte cannot come. */
    @Nullable
    State step(State from, int symbol) {
        if (!from.known.get(symbol)) {
            List<Place> reached = new ArrayList<>();
            for (Place place : from.places) {
                for (Grammar.Edge edge : grammar.edgesFrom(place.node)) {
                    if (edge.bytes().get(symbol)) {
                        reached.add(new Place(edge.target(), place.stack));
                    }
                }
            }
            from.steps[symbol] = reached.isEmpty() ? null : state(reached);
            from.known.set(symbol);
        }
        return from.steps[symbol];
    }

    /** The state behind a control id; null if it cannot come. */
    @Nullable
    State control(State from, int id) {
        List<Place> reached = new ArrayList<>();
        for (Place place : from.places) {
            for (Grammar.Edge edge : grammar.edgesFrom(place.node)) {
                if (edge.control() == id) {
                    reached.add(new Place(edge.target(), place.stack));
                }
            }
        }
        return reached.isEmpty() ? null : state(reached);
    }

    /** Ids that can come in a state. */
    BitSet mask(State state, Vocabulary vocabulary) {
        BitSet mask = state.mask;
        if (mask == null) {
            mask = new BitSet();
            vocabulary.mask(this, state, mask);
            for (Place place : state.places) {
                for (Grammar.Edge edge : grammar.edgesFrom(place.node)) {
                    if (edge.control() >= 0) {
                        mask.set(edge.control());
                    }
                }
            }
            state.mask = mask;
            masked.add(state);
            if (masked.size() > MAX_MASKS) {
                masked.removeFirst().mask = null;
            }
        }
        return mask;
    }

    /** Whether nothing can come: the text is complete. */
    static boolean complete(State state) {
        return state.places.isEmpty();
    }

    /** Whether too many states were collected. */
    boolean crowded() {
        return states.size() > MAX_STATES;
    }

    /** The same state in an automaton of its own, which has collected nothing. */
    State movedTo(Automaton other, State state) {
        return other.states.computeIfAbsent(new LinkedHashSet<>(state.places), set -> new State(state.places));
    }
}
