package ai.deltafin.engine.sampling;

import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;

/** A set of strings over bytes and control ids, as a tree: what a grammar's rules are made of. */
sealed interface Expression {

    /** These bytes. */
    record Literal(byte[] bytes) implements Expression {}

    /** One of these bytes. */
    record OneOf(BitSet bytes) implements Expression {}

    /** One control id. */
    record Control(int id) implements Expression {}

    /** One after the other. */
    record Sequence(List<Expression> parts) implements Expression {}

    /** Any of them. */
    record Choice(List<Expression> options) implements Expression {}

    /** {@code least} to {@code most} times; {@code most} below 0 is without bound. */
    record Repeat(Expression part, int least, int most) implements Expression {}

    /** A rule of the grammar, which may contain itself. */
    record Rule(String name) implements Expression {}

    /**
     * Members in their order, a separator between those that are there.
     *
     * @param required for each member whether it must be there
     */
    record Members(List<Expression> members, List<Boolean> required, Expression separator) implements Expression {}

    /** Nothing. */
    Expression EMPTY = new Sequence(List.of());

    /** Text as UTF-8. */
    static Expression text(String text) {
        return new Literal(text.getBytes(StandardCharsets.UTF_8));
    }

    /** One after the other. */
    static Expression sequence(Expression... parts) {
        return new Sequence(List.of(parts));
    }

    /** Any of them. */
    static Expression choice(Expression... options) {
        return new Choice(List.of(options));
    }

    /** It or nothing. */
    static Expression optional(Expression part) {
        return new Repeat(part, 0, 1);
    }

    /** Any number of times. */
    static Expression any(Expression part) {
        return new Repeat(part, 0, -1);
    }

    /** One byte of a range. */
    static Expression range(int first, int last) {
        BitSet set = new BitSet(256);
        set.set(first, last + 1);
        return new OneOf(set);
    }

    /** One of these ASCII characters. */
    static Expression oneOf(String characters) {
        BitSet set = new BitSet(256);
        characters.chars().forEach(set::set);
        return new OneOf(set);
    }
}
