package ai.deltafin.engine.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.engine.sampling.AnswerShape.Calls;
import ai.deltafin.engine.sampling.AnswerShape.Response;
import ai.deltafin.engine.sampling.AnswerShape.Tool;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a random model writes under a constraint is what was asked for. */
class AnswerShapeTest {

    private static final AnswerShape.Markers MARKERS = new AnswerShape.Markers(300, 301, 302, 303);
    private static final int VOCABULARY = 304;

    /** The 256 bytes, then tokens of several bytes that cross the borders of JSON's parts. */
    private static final List<String> LONGER = List.of(
            "{\"",
            "\":",
            "\": ",
            "\",",
            "\"}",
            "true",
            "false",
            "null",
            "], [",
            "}}",
            "12",
            "345",
            "  ",
            "\n  ",
            "ab",
            "\\u",
            "\\n",
            "response",
            "think",
            "call tool=\"",
            "argument key=\"",
            "\" type=\"",
            "é",
            "中",
            "[{",
            "0.");

    private static final Vocabulary WORDS = new Vocabulary(256 + LONGER.size(), AnswerShapeTest::bytes);

    private static byte[] bytes(int id) {
        return id < 256 ? new byte[] {(byte) id} : LONGER.get(id - 256).getBytes(StandardCharsets.UTF_8);
    }

    private static JsonNode json(String text) {
        return JsonMapper.shared().readTree(text.replace('\'', '"'));
    }

    private static AnswerShape schema(boolean thinking, String schema) {
        return new AnswerShape(thinking, new Response.Schema(json(schema)), List.of(), Calls.FORBIDDEN, false);
    }

    /** Writes with random logits until the end marker; markup in brackets. */
    private static @Nullable String write(AnswerShape shape, long seed, int most) {
        Constraint constraint = shape.constraint(WORDS, MARKERS);
        Random random = new Random(seed);
        Sampler sampler = new Sampler(new SamplingParams(1, 1, 0, 0, seed));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int position = 0; position < most; position++) {
            float[] logits = new float[VOCABULARY];
            for (int i = 0; i < logits.length; i++) {
                logits[i] = (float) random.nextGaussian() + ("\"]}".indexOf(i) >= 0 || i >= 300 ? 3 : 0);
            }
            int id = sampler.choose(
                    MemorySegment.ofArray(logits), VOCABULARY, new int[0], position, position, constraint);
            if (id == MARKERS.endOfMessage()) {
                return out.toString(StandardCharsets.UTF_8);
            }
            out.writeBytes(
                    id >= 300 ? ("<" + "OCS".charAt(id - 300) + ">").getBytes(StandardCharsets.UTF_8) : bytes(id));
            constraint = constraint.step(id);
        }
        return null;
    }

    private static List<String> finished(AnswerShape shape) {
        return java.util.stream.LongStream.range(0, 60)
                .mapToObj(seed -> write(shape, seed, 3000))
                .filter(java.util.Objects::nonNull)
                .toList();
    }

    private static JsonNode response(String answer) {
        String end = "<C>response<S><C>message<S>";
        assertThat(answer).endsWith(end);
        String body = answer.substring(0, answer.length() - end.length());
        int open = body.indexOf("<O>response<S>");
        return JsonMapper.shared().readTree(open < 0 ? body : body.substring(open + "<O>response<S>".length()));
    }

    private static boolean accepts(AnswerShape shape, String text) {
        Constraint constraint = shape.constraint(WORDS, MARKERS);
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (constraint.allowed() == null || !constraint.allowed().get(b & 0xFF)) {
                return false;
            }
            constraint = constraint.step(b & 0xFF);
        }
        return constraint.allowed() != null && constraint.allowed().get(MARKERS.close());
    }

    @Test
    void aJsonObjectParsesHoweverItIsWritten() {
        List<String> answers =
                finished(new AnswerShape(false, new Response.JsonObject(), List.of(), Calls.FORBIDDEN, false));
        assertThat(answers).hasSizeGreaterThan(40);
        assertThat(answers)
                .allSatisfy(answer -> assertThat(response(answer).isObject()).isTrue());
    }

    @Test
    void aSchemaWithReferencesAndChoicesIsHeldTo() {
        String schema = """
            {'type':'object','additionalProperties':false,'required':['kind','tags','tree'],
             'properties':{'kind':{'enum':['a','b"c']},'tags':{'type':'array','items':{'type':'integer',
             'minimum':-5,'maximum':120},'minItems':1,'maxItems':3},'note':{'type':['string','null'],'maxLength':4},
             'tree':{'$ref':'#/$defs/node'}},
             '$defs':{'node':{'anyOf':[{'type':'null'},{'type':'object','properties':{'left':{'$ref':'#/$defs/node'},
             'on':{'type':'boolean'}},'required':['left','on']}]}}}
            """.replace("b\"c", "bc");
        for (boolean thinking : new boolean[] {false, true}) {
            List<String> answers = finished(schema(thinking, schema));
            assertThat(answers).hasSizeGreaterThan(thinking ? 10 : 40);
            assertThat(answers).allSatisfy(answer -> {
                JsonNode value = response(answer);
                assertThat(value.get("kind").stringValue()).isIn("a", "bc");
                assertThat(value.get("tags").size()).isBetween(1, 3);
                value.get("tags").forEach(tag -> assertThat(tag.intValue()).isBetween(-5, 120));
                assertThat(value.propertyNames()).isSubsetOf("kind", "tags", "note", "tree");
                for (JsonNode node = value.get("tree"); !node.isNull(); node = node.get("left")) {
                    assertThat(node.get("on").isBoolean()).isTrue();
                }
            });
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'type':'integer','minimum':7,'maximum':1203} | 7 8 10 99 100 999 1000 1199 1203 | 6 0 1204 9999 -7"
                        + " 07",
                "{'type':'integer','maximum':-12} | -12 -13 -100 -999 | -11 -1 0 12 -0",
                "{'type':'integer','exclusiveMinimum':0} | 1 10 999999999999999999 | 0 -1 1.0",
                "{'type':'integer'} | 0 -5 42 | 01 1.5 -",
                "{'type':'number'} | 0 -0.5 1e10 12.25E-3 | 01 .5 1. +1",
                "{'type':'string','minLength':1,'maxLength':2} | 'a' 'é中' '\\n\\u00e9' | '' 'abc' '\\x' '\\ud800'",
                "{'type':'string','format':'date'} | '2026-02-28' | '2026-13-01' '2026-02-31' '26-01-01'",
                "{'type':'string','format':'uuid'} | '123e4567-e89b-12d3-a456-426614174000' | '123e4567'",
                "{'const':{'a':[1,'x']}} | {'a':[1,'x']} | {'a':[1,'y']}",
                "{'type':'array','items':{'type':'null'},'maxItems':2} | [] [null] [null,null] | [null,null,null] [1]",
                "{'type':'object','properties':{'a':{},'b':{}},'required':['b']} | {'b':1} {'a':2,'b':1} | {} {'a':1}"
                        + " {'b':1,'a':2} {'c':1}",
                "{'type':'object','additionalProperties':{'type':'boolean'}} | {} {'x':true} | {'x':1}",
                "true | 1 'x' [{}] null | nul x"
            })
    void acceptsAndRefuses(String schema, String good, String bad) {
        AnswerShape shape = schema(false, schema);
        for (String text : good.trim().split(" ")) {
            assertThat(accepts(shape, text.replace('\'', '"'))).as(text).isTrue();
        }
        for (String text : bad.trim().split(" ")) {
            assertThat(accepts(shape, text.replace('\'', '"'))).as(text).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'string','pattern':'a+'} | /pattern",
                "{'properties':{'x':{'oneOf':[{},{}]}}} | /properties/x/oneOf",
                "{'not':{}} | /not",
                "{'type':'number','minimum':3} | /minimum",
                "{'type':'text'} | /type",
                "{'$ref':'http://elsewhere/'} | /$ref",
                "{'$ref':'#/$defs/none'} | leads nowhere",
                "{'$ref':'#'} | leads back to itself",
                "{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}},'$ref':'#/$defs/a'} | leads back",
                "{'type':'string','maxLength':100000} | /maxLength",
                "{'type':'array','minItems':3,'maxItems':2} | no value can be valid",
                "{'enum':[]} | /enum",
                "{'required':['x']} | /required",
                "7 | must be an object"
            })
    void refusesByName(String line) {
        String[] parts = line.split(" \\| ");
        assertThatThrownBy(() -> schema(false, parts[0]).constraint(WORDS, MARKERS))
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining(parts[1]);
    }

    private static final Tool WEATHER = new Tool(
            "get_weather",
            json("{'type':'object','properties':{'city':{'enum':['Rome','Oslo']},'days':{'type':'integer','minimum':1,"
                    + "'maximum':9}},'required':['city']}"),
            true);

    private static final String CALL = "<O>call tool=\"get_weather\" index=\"[1-9][0-9]?\"<S><O>argument key=\"city\""
            + " type=\"string\"<S>(Rome|Oslo)<C>argument<S>(<O>argument key=\"days\""
            + " type=\"number\"<S>[1-9]<C>argument<S>)?<C>call<S>";

    @Test
    void aRequiredCallIsMadeWithItsArguments() {
        AnswerShape shape = new AnswerShape(false, new Response.Free(), List.of(WEATHER), Calls.REQUIRED, false);
        List<String> answers = finished(shape);
        assertThat(answers).hasSizeGreaterThan(40);
        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer)
                        .matches("(?s).*<C>response<S><O>tools<S>(" + CALL + ")+<C>tools<S><C>message<S>"));
        assertThat(answers)
                .anySatisfy(answer -> assertThat(answer.split("<O>call")).hasSizeGreaterThan(2));
    }

    @Test
    void aSingleCallStaysSingle() {
        AnswerShape shape = new AnswerShape(true, new Response.Free(), List.of(WEATHER), Calls.REQUIRED, true);
        assertThat(finished(shape))
                .isNotEmpty()
                .allSatisfy(answer -> assertThat(answer)
                        .matches("(?s).*<C>think<S><O>response<S>.*<C>response<S><O>tools<S>" + CALL
                                + "<C>tools<S><C>message<S>"));
    }

    @Test
    void forbiddenCallsDoNotOpen() {
        AnswerShape shape = new AnswerShape(false, new Response.Free(), List.of(WEATHER), Calls.FORBIDDEN, false);
        assertThat(finished(shape))
                .isNotEmpty()
                .allSatisfy(answer -> assertThat(answer).doesNotContain("<O>"));
    }

    @Test
    void aToolWithoutGuaranteeIsRelaxedAndAStrictOneRefused() {
        JsonNode parameters = json("{'type':'object','properties':{'x':{'type':'string','pattern':'a+'}}}");
        for (boolean strict : new boolean[] {false, true}) {
            AnswerShape shape = new AnswerShape(
                    false, new Response.Free(), List.of(new Tool("f", parameters, strict)), Calls.REQUIRED, false);
            if (strict) {
                assertThatThrownBy(() -> shape.constraint(WORDS, MARKERS)).hasMessageContaining("pattern");
            } else {
                assertThat(finished(shape)).isNotEmpty();
            }
        }
    }

    @Test
    void nestingComesToAnEnd() {
        AnswerShape shape = new AnswerShape(false, new Response.JsonObject(), List.of(), Calls.FORBIDDEN, false);
        Constraint constraint = shape.constraint(WORDS, MARKERS);
        constraint = constraint.step('{').step('"').step('"').step(':');
        int depth = 0;
        while (constraint.allowed().get('[')) {
            constraint = constraint.step('[');
            depth++;
        }
        assertThat(depth).isBetween(16, Automaton.MAX_DEPTH);
        assertThat(constraint.allowed().get(']')).isTrue();
    }

    @Test
    void anIdThatIsNotAllowedIsRefused() {
        Constraint constraint = schema(false, "{'type':'null'}").constraint(WORDS, MARKERS);
        assertThatThrownBy(() -> constraint.step('x')).isInstanceOf(IllegalArgumentException.class);
    }
}
