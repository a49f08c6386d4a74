package ai.deltafin.engine.sampling;

import static ai.deltafin.engine.sampling.Expression.any;
import static ai.deltafin.engine.sampling.Expression.choice;
import static ai.deltafin.engine.sampling.Expression.oneOf;
import static ai.deltafin.engine.sampling.Expression.optional;
import static ai.deltafin.engine.sampling.Expression.range;
import static ai.deltafin.engine.sampling.Expression.sequence;
import static ai.deltafin.engine.sampling.Expression.text;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * JSON itself as grammar rules. White space is bounded and so are the digits of numbers: a model that has nothing to say
 * cannot fill its answer with either.
 */
final class JsonText {

    /** A character of a string: well-formed UTF-8 or an escape that is no surrogate. */
    static final Expression CHARACTER = new Expression.Rule("json character");

    static final Expression STRING = new Expression.Rule("json string");
    static final Expression NUMBER = new Expression.Rule("json number");

    /** Nothing, a space, or a new line with some indentation. */
    static final Expression SPACE = new Expression.Rule("json space");

    /** Any value. */
    static final Expression VALUE = new Expression.Rule("json value");

    static final Expression OBJECT = new Expression.Rule(Grammar.NESTING + "json object");
    static final Expression ARRAY = new Expression.Rule(Grammar.NESTING + "json array");
    static final Expression BOOLEAN = choice(text("true"), text("false"));
    static final Expression NULL = text("null");
    static final Expression COMMA = sequence(text(","), SPACE);

    private static final Expression DIGIT = range('0', '9');

    /** Integers without stated bounds lie within plus and minus this. */
    private static final BigInteger WIDEST = BigInteger.TEN.pow(18).subtract(BigInteger.ONE);

    private JsonText() {}

    /** Defines the rules that the constants name. */
    static void define(Grammar grammar) {
        grammar.define("json character", character());
        grammar.define("json string", sequence(text("\""), any(CHARACTER), text("\"")));
        grammar.define(
                "json number",
                sequence(
                        optional(text("-")),
                        choice(text("0"), sequence(range('1', '9'), new Expression.Repeat(DIGIT, 0, 18))),
                        optional(sequence(text("."), new Expression.Repeat(DIGIT, 1, 18))),
                        optional(sequence(oneOf("eE"), optional(oneOf("+-")), DIGIT, optional(DIGIT)))));
        grammar.define(
                "json space",
                choice(Expression.EMPTY, text(" "), sequence(text("\n"), new Expression.Repeat(text(" "), 0, 32))));
        grammar.define("json value", choice(STRING, NUMBER, BOOLEAN, NULL, OBJECT, ARRAY));
        grammar.define(Grammar.NESTING + "json object", map(VALUE));
        grammar.define(Grammar.NESTING + "json array", list(VALUE, 0, -1));
    }

    private static Expression character() {
        Expression tail = range(0x80, 0xBF);
        return choice(
                range(0x20, 0x21),
                range(0x23, 0x5B),
                range(0x5D, 0x7F),
                sequence(range(0xC2, 0xDF), tail),
                sequence(range(0xE0, 0xE0), range(0xA0, 0xBF), tail),
                sequence(range(0xE1, 0xEC), tail, tail),
                sequence(range(0xED, 0xED), range(0x80, 0x9F), tail),
                sequence(range(0xEE, 0xEF), tail, tail),
                sequence(range(0xF0, 0xF0), range(0x90, 0xBF), tail, tail),
                sequence(range(0xF1, 0xF3), tail, tail, tail),
                sequence(range(0xF4, 0xF4), range(0x80, 0x8F), tail, tail),
                sequence(text("\\"), oneOf("\"\\/bfnrt")),
                sequence(text("\\u"), unicode()));
    }

    private static Expression unicode() {
        Expression hex = oneOf("0123456789abcdefABCDEF");
        return choice(
                sequence(oneOf("0123456789abcefABCEF"), hex, hex, hex),
                sequence(oneOf("dD"), oneOf("01234567"), hex, hex));
    }

    /** An object with any keys. */
    static Expression map(Expression value) {
        Expression member = sequence(STRING, text(":"), SPACE, value);
        return sequence(text("{"), SPACE, optional(sequence(member, any(sequence(COMMA, member)), SPACE)), text("}"));
    }

    /** An array of {@code least} to {@code most} values; {@code most} below 0 is without bound. */
    static Expression list(Expression item, int least, int most) {
        if (most == 0) {
            return text("[]");
        }
        Expression more = sequence(COMMA, item);
        Expression items =
                sequence(item, new Expression.Repeat(more, Math.max(0, least - 1), most < 0 ? -1 : most - 1), SPACE);
        return sequence(text("["), SPACE, least == 0 ? optional(items) : items, text("]"));
    }

    /** A string of {@code least} to {@code most} characters; {@code most} below 0 is without bound. */
    static Expression string(int least, int most) {
        return sequence(text("\""), new Expression.Repeat(CHARACTER, least, most), text("\""));
    }

    /** Whole numbers from {@code low} to {@code high}, both clipped to 18 digits; no option if there is none. */
    static Expression integers(BigInteger low, BigInteger high) {
        BigInteger least = low.max(WIDEST.negate());
        BigInteger most = high.min(WIDEST);
        List<Expression> options = new ArrayList<>();
        if (least.signum() < 0) {
            BigInteger from = most.signum() < 0 ? most.negate() : BigInteger.ONE;
            options.add(sequence(text("-"), naturals(from, least.negate())));
        }
        if (most.signum() >= 0) {
            options.add(naturals(least.max(BigInteger.ZERO), most));
        }
        return new Expression.Choice(options);
    }

    private static Expression naturals(BigInteger low, BigInteger high) {
        String first = low.toString();
        String last = high.toString();
        List<Expression> options = new ArrayList<>();
        for (int length = first.length(); length <= last.length(); length++) {
            String from = length == first.length() ? first : "1" + "0".repeat(length - 1);
            String to = length == last.length() ? last : "9".repeat(length);
            if (from.compareTo(to) <= 0) {
                options.add(sameLength(from, to));
            }
        }
        return new Expression.Choice(options);
    }

    /** Digit strings of one length from {@code from} to {@code to}. */
    private static Expression sameLength(String from, String to) {
        if (from.equals("0".repeat(from.length())) && to.equals("9".repeat(to.length()))) {
            return new Expression.Sequence(Collections.nCopies(from.length(), DIGIT));
        }
        char a = from.charAt(0);
        char b = to.charAt(0);
        String restFrom = from.substring(1);
        String restTo = to.substring(1);
        if (a == b) {
            return sequence(range(a, a), sameLength(restFrom, restTo));
        }
        int rest = restFrom.length();
        List<Expression> options = new ArrayList<>();
        options.add(sequence(range(a, a), sameLength(restFrom, "9".repeat(rest))));
        if (a + 1 < b) {
            options.add(sequence(range(a + 1, b - 1), new Expression.Sequence(Collections.nCopies(rest, DIGIT))));
        }
        options.add(sequence(range(b, b), sameLength("0".repeat(rest), restTo)));
        return new Expression.Choice(options);
    }

    /** Text of a date, a time or an identifier as JSON string content; null for a format that is not known. */
    static @org.jspecify.annotations.Nullable Expression format(String name) {
        Expression date = sequence(
                new Expression.Repeat(DIGIT, 4, 4),
                text("-"),
                choice(sequence(text("0"), range('1', '9')), sequence(text("1"), range('0', '2'))),
                text("-"),
                // Day 28 ends every month's safe days: a grammar without a calendar stays valid for all of them.
                choice(
                        sequence(text("0"), range('1', '9')),
                        sequence(text("1"), DIGIT),
                        sequence(text("2"), range('0', '8'))));
        Expression minute = sequence(range('0', '5'), DIGIT);
        Expression hour = choice(sequence(range('0', '1'), DIGIT), sequence(text("2"), range('0', '3')));
        Expression time = sequence(
                hour,
                text(":"),
                minute,
                text(":"),
                minute,
                optional(sequence(text("."), new Expression.Repeat(DIGIT, 1, 6))),
                choice(text("Z"), sequence(oneOf("+-"), hour, text(":"), minute)));
        Expression hex = oneOf("0123456789abcdef");
        return switch (name) {
            case "date" -> date;
            case "time" -> time;
            case "date-time" -> sequence(date, text("T"), time);
            case "uuid" ->
                sequence(
                        new Expression.Repeat(hex, 8, 8),
                        new Expression.Repeat(sequence(text("-"), new Expression.Repeat(hex, 4, 4)), 3, 3),
                        text("-"),
                        new Expression.Repeat(hex, 12, 12));
            default -> null;
        };
    }
}
