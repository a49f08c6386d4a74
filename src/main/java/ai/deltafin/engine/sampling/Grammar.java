package ai.deltafin.engine.sampling;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rules compiled to one network of nodes: a recursive transition network. A node has edges that cost nothing, edges that
 * take a byte or a control id, and at most one call of a rule with the node to come back to.
 */
final class Grammar {

    /** More nodes than any schema worth serving has. */
    static final int MAX_NODES = 400_000;

    /** Begins the names of rules that may contain themselves and that something else can stand for. */
    static final String NESTING = "nesting ";

    /** An edge that takes a symbol: a byte of the set, or the control id where the set is empty. */
    record Edge(BitSet bytes, int control, int target) {}

    /** Where a rule begins and ends. */
    record Span(int start, int end) {}

    private static final BitSet NO_BYTES = new BitSet();

    private final List<List<Integer>> free = new ArrayList<>();
    private final List<List<Edge>> edges = new ArrayList<>();
    private final List<String> calls = new ArrayList<>();
    private final List<Integer> returns = new ArrayList<>();
    private final BitSet ends = new BitSet();
    private final Map<String, Span> rules = new HashMap<>();

    /** Compiles a rule; a rule may be called before it is defined. */
    void define(String name, Expression expression) {
        int start = node();
        int end = compile(expression, start);
        rules.put(name, new Span(start, end));
        ends.set(end);
    }

    /** Whether a rule is complete at this node. */
    boolean endsRule(int node) {
        return ends.get(node);
    }

    boolean defines(String name) {
        return rules.containsKey(name);
    }

    private int node() {
        if (free.size() >= MAX_NODES) {
            throw new SchemaException("", "the schema is too large: more than " + MAX_NODES + " states");
        }
        free.add(List.of());
        edges.add(List.of());
        calls.add("");
        returns.add(-1);
        return free.size() - 1;
    }

    private void free(int from, int to) {
        if (free.get(from).isEmpty()) {
            free.set(from, new ArrayList<>(2));
        }
        free.get(from).add(to);
    }

    private int edge(int from, BitSet bytes, int control) {
        int to = node();
        if (edges.get(from).isEmpty()) {
            edges.set(from, new ArrayList<>(1));
        }
        edges.get(from).add(new Edge(bytes, control, to));
        return to;
    }

    /** Adds the expression behind a node; gives the node behind the expression. */
    private int compile(Expression expression, int from) {
        return switch (expression) {
            case Expression.Literal literal -> {
                int at = from;
                for (byte b : literal.bytes()) {
                    BitSet one = new BitSet(256);
                    one.set(b & 0xFF);
                    at = edge(at, one, -1);
                }
                yield at;
            }
            case Expression.OneOf oneOf -> edge(from, oneOf.bytes(), -1);
            case Expression.Control control -> edge(from, NO_BYTES, control.id());
            case Expression.Sequence sequence -> {
                int at = from;
                for (Expression part : sequence.parts()) {
                    at = compile(part, at);
                }
                yield at;
            }
            case Expression.Choice choice -> {
                int end = node();
                for (Expression option : choice.options()) {
                    int start = node();
                    free(from, start);
                    free(compile(option, start), end);
                }
                yield end;
            }
            case Expression.Repeat repeat -> repeat(repeat, from);
            case Expression.Rule rule -> {
                int call = node();
                int end = node();
                free(from, call);
                calls.set(call, rule.name());
                returns.set(call, end);
                yield end;
            }
            case Expression.Members members -> members(members, from);
        };
    }

    private int repeat(Expression.Repeat repeat, int from) {
        int at = from;
        for (int i = 0; i < repeat.least(); i++) {
            at = compile(repeat.part(), at);
        }
        int end = node();
        free(at, end);
        if (repeat.most() < 0) {
            int loop = node();
            free(end, loop);
            free(compile(repeat.part(), loop), end);
        } else {
            for (int i = repeat.least(); i < repeat.most(); i++) {
                at = compile(repeat.part(), at);
                free(at, end);
            }
        }
        return end;
    }

    /** Two rows of nodes: before member i with nothing written yet, and with something written. */
    private int members(Expression.Members members, int from) {
        int bare = from;
        int written = node();
        for (int i = 0; i < members.members().size(); i++) {
            Expression member = members.members().get(i);
            int nextBare = node();
            int nextWritten = node();
            int start = node();
            free(bare, start);
            free(written, separated(members.separator(), start));
            free(compile(member, start), nextWritten);
            if (!members.required().get(i)) {
                free(bare, nextBare);
                free(written, nextWritten);
            }
            bare = nextBare;
            written = nextWritten;
        }
        int end = node();
        free(bare, end);
        free(written, end);
        return end;
    }

    /** A node from which the separator leads to {@code start}. */
    private int separated(Expression separator, int start) {
        int before = node();
        free(compile(separator, before), start);
        return before;
    }

    List<Integer> freeFrom(int node) {
        return free.get(node);
    }

    List<Edge> edgesFrom(int node) {
        return edges.get(node);
    }

    /** The rule that a node calls; empty for none. */
    String callAt(int node) {
        return calls.get(node);
    }

    int returnFrom(int node) {
        return returns.get(node);
    }

    Span rule(String name) {
        Span span = rules.get(name);
        if (span == null) {
            throw new IllegalStateException("no rule " + name);
        }
        return span;
    }
}
