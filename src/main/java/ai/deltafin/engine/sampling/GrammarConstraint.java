package ai.deltafin.engine.sampling;

import java.util.BitSet;

/** A constraint that lets through the texts of a grammar. */
final class GrammarConstraint implements Constraint {

    private final Grammar grammar;
    private final Vocabulary vocabulary;
    private final int end;
    private final Automaton automaton;
    private final Automaton.State state;

    private GrammarConstraint(
            Grammar grammar, Vocabulary vocabulary, int end, Automaton automaton, Automaton.State state) {
        this.grammar = grammar;
        this.vocabulary = vocabulary;
        this.end = end;
        this.automaton = automaton;
        this.state = state;
    }

    /**
     * The constraint before the first id.
     *
     * @param rule the grammar's rule for the whole text
     * @param end the id that may come when the text is complete
     */
    static Constraint start(Grammar grammar, String rule, Vocabulary vocabulary, int end) {
        Automaton automaton = new Automaton(grammar);
        return new GrammarConstraint(grammar, vocabulary, end, automaton, automaton.start(rule));
    }

    @Override
    public BitSet allowed() {
        if (Automaton.complete(state)) {
            BitSet only = new BitSet();
            only.set(end);
            return only;
        }
        return automaton.mask(state, vocabulary);
    }

    @Override
    public Constraint step(int id) {
        if (Automaton.complete(state) && id == end) {
            return this;
        }
        Automaton.State next =
                vocabulary.isText(id) ? vocabulary.walk(automaton, state, id) : automaton.control(state, id);
        if (next == null) {
            throw new IllegalArgumentException("id " + id + " is not allowed here");
        }
        if (automaton.crowded()) {
            Automaton fresh = new Automaton(grammar);
            return new GrammarConstraint(grammar, vocabulary, end, fresh, automaton.movedTo(fresh, next));
        }
        return new GrammarConstraint(grammar, vocabulary, end, automaton, next);
    }
}
