package ai.deltafin.engine.sampling;

import static ai.deltafin.engine.sampling.Expression.any;
import static ai.deltafin.engine.sampling.Expression.choice;
import static ai.deltafin.engine.sampling.Expression.optional;
import static ai.deltafin.engine.sampling.Expression.range;
import static ai.deltafin.engine.sampling.Expression.sequence;
import static ai.deltafin.engine.sampling.Expression.text;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** K3's answer markup, with what a shape demands inside it, as one grammar over bytes and control ids. */
final class AnswerGrammar {

    private static final String ANSWER = "answer";
    private static final Expression ANY_TEXT = any(range(0, 255));

    private final AnswerShape shape;
    private final AnswerShape.Markers markers;
    private final Grammar grammar = new Grammar();

    AnswerGrammar(AnswerShape shape, AnswerShape.Markers markers) {
        this.shape = shape;
        this.markers = markers;
        JsonText.define(grammar);
    }

    Constraint constraint(Vocabulary vocabulary) {
        grammar.define(ANSWER, answer());
        return GrammarConstraint.start(grammar, ANSWER, vocabulary, markers.endOfMessage());
    }

    private Expression open(Expression header) {
        return sequence(new Expression.Control(markers.open()), header, new Expression.Control(markers.sep()));
    }

    private Expression close(String tag) {
        return sequence(new Expression.Control(markers.close()), text(tag), new Expression.Control(markers.sep()));
    }

    private Expression answer() {
        Expression before =
                shape.thinking() ? sequence(ANY_TEXT, close("think"), open(text("response"))) : Expression.EMPTY;
        Expression response = switch (shape.response()) {
            case AnswerShape.Response.Free free -> ANY_TEXT;
            case AnswerShape.Response.JsonObject object -> JsonText.map(JsonText.VALUE);
            case AnswerShape.Response.Schema schema ->
                new JsonSchema(grammar, schema.schema(), true, "response").value();
        };
        boolean free = shape.response() instanceof AnswerShape.Response.Free;
        Expression body = switch (shape.calls()) {
            case FORBIDDEN -> sequence(response, close("response"));
            case REQUIRED -> sequence(free ? response : Expression.EMPTY, close("response"), calls());
            case ALLOWED ->
                free
                        ? sequence(response, close("response"), optional(calls()))
                        : choice(sequence(response, close("response")), sequence(close("response"), calls()));
        };
        return sequence(before, body, close("message"), new Expression.Control(markers.endOfMessage()));
    }

    private Expression calls() {
        List<Expression> options = new ArrayList<>();
        for (int i = 0; i < shape.tools().size(); i++) {
            AnswerShape.Tool tool = shape.tools().get(i);
            Expression index = sequence(range('1', '9'), optional(range('0', '9')));
            options.add(sequence(
                    open(sequence(text("call tool=\"" + escaped(tool.name()) + "\" index=\""), index, text("\""))),
                    arguments(tool, i),
                    close("call")));
        }
        Expression call = new Expression.Choice(options);
        return sequence(
                open(text("tools")), new Expression.Repeat(call, 1, shape.singleCall() ? 1 : -1), close("tools"));
    }

    private static String escaped(String attribute) {
        return attribute.replace("&", "&amp;").replace("\"", "&quot;");
    }

    private Expression arguments(AnswerShape.Tool tool, int number) {
        JsonNode parameters = tool.parameters();
        if (parameters == null || !parameters.path("properties").isObject()) {
            return any(argument(anyKey(), ArgumentSchema::unstated));
        }
        JsonSchema schema = new JsonSchema(grammar, parameters, tool.strict(), "tool " + number);
        ArgumentSchema arguments = new ArgumentSchema(schema);
        List<Expression> members = new ArrayList<>();
        List<Boolean> needed = new ArrayList<>();
        for (Map.Entry<String, JsonNode> property : parameters.get("properties").properties()) {
            String at = "/properties/" + property.getKey();
            members.add(argument(
                    text(escaped(property.getKey())), type -> arguments.values(property.getValue(), type, at)));
            boolean named = false;
            for (JsonNode name : parameters.path("required")) {
                named |= name.asString("").equals(property.getKey());
            }
            needed.add(named);
        }
        return new Expression.Members(members, needed, Expression.EMPTY);
    }

    /** A key of any bytes but the quote that ends it. */
    private static Expression anyKey() {
        BitSet bytes = new BitSet(256);
        bytes.set(0, 256);
        bytes.clear('"');
        return new Expression.Repeat(new Expression.OneOf(bytes), 1, 64);
    }

    /** One argument element, with each type that has values. */
    private Expression argument(Expression key, Function<String, @Nullable Expression> valuesOf) {
        List<Expression> options = new ArrayList<>();
        for (String type : ArgumentSchema.TYPES) {
            Expression values = valuesOf.apply(type);
            if (values != null) {
                options.add(sequence(
                        open(sequence(text("argument key=\""), key, text("\" type=\"" + type + "\""))),
                        values,
                        close("argument")));
            }
        }
        if (options.isEmpty()) {
            throw new SchemaException("/properties", "a property's schema accepts no value");
        }
        return new Expression.Choice(options);
    }
}
