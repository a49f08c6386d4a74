package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import ai.deltafin.chat.AnswerEvent.ContentDelta;
import ai.deltafin.chat.AnswerEvent.Finished;
import ai.deltafin.chat.AnswerEvent.ReasoningDelta;
import ai.deltafin.chat.AnswerEvent.ToolArgumentsDelta;
import ai.deltafin.chat.AnswerEvent.ToolCallCut;
import ai.deltafin.chat.AnswerEvent.ToolCallEnded;
import ai.deltafin.chat.AnswerEvent.ToolCallStarted;
import ai.deltafin.chat.AnswerParser.End;
import ai.deltafin.chat.AnswerParser.Options;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What the golden answers do not reach: streaming, stop strings, and markup broken in other ways. */
class AnswerParserTest {

    private static final String MARKERS = "<|open|><|close|><|sep|><|end_of_msg|>";

    @Test
    void longArgument_streamsNameFirst_thenPiecesOfTheFinalText() {
        String value = "line \"one\"\nline two\\ ".repeat(200);
        String script = Answers.CALL + "<|open|>argument key=\"p\" type=\"string\"<|sep|>" + value
                + "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>" + Answers.END;
        List<AnswerEvent> events = Answers.events(script, new Options(true, true, List.of()), End.LIMIT);
        List<AnswerEvent> call = events.stream()
                .filter(e -> !(e instanceof ReasoningDelta || e instanceof ContentDelta))
                .toList();
        assertThat(call.getFirst()).isInstanceOf(ToolCallStarted.class);
        assertThat(call.stream().filter(ToolArgumentsDelta.class::isInstance)).hasSizeGreaterThan(200);
        assertThat(call.get(call.size() - 2)).isEqualTo(new ToolCallEnded(0));
        assertThat(call.getLast()).isEqualTo(new Finished(FinishReason.TOOL_CALLS));
        String arguments = Answers.answer(events).calls().getFirst().arguments();
        assertThat(PythonJson.READER.readTree(arguments).path("p").stringValue())
                .isEqualTo(value);
    }

    static Stream<Arguments> argumentTexts() {
        return Stream.of(
                Arguments.of("number", "NaN", "{\"v\":\"NaN\"}"),
                Arguments.of("number", "01", "{\"v\":\"01\"}"),
                Arguments.of("number", "1 2", "{\"v\":\"1 2\"}"),
                Arguments.of("object", "{\"a\":\"x\ny\"}", "{\"v\":\"{\\\"a\\\":\\\"x\\ny\\\"}\"}"),
                Arguments.of("object", "{\"a\":\"cut", "{\"v\":\"{\\\"a\\\":\\\"cut\"}"),
                Arguments.of("boolean", "", "{\"v\":\"\"}"),
                Arguments.of("number", "1.50", "{\"v\":1.50}"),
                Arguments.of("odd", "x", "{\"v\":\"x\"}"));
    }

    @ParameterizedTest
    @MethodSource("argumentTexts")
    void argumentThatIsNotOfItsType_isHandedOnAsText(String type, String value, String arguments) {
        String script = Answers.CALL + "<|open|>argument key=\"v\" type=\"" + type + "\"<|sep|>" + value
                + "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>" + Answers.END;
        assertThat(Answers.answer(script).calls().getFirst().arguments()).isEqualTo(arguments);
    }

    static Stream<Arguments> brokenCalls() {
        String argument = "<|open|>argument key=\"v\" type=\"string\"<|sep|>x<|close|>argument<|sep|>";
        String json = "<|open|>json type=\"object\"<|sep|>{\"j\":1}<|close|>json<|sep|>";
        return Stream.of(
                Arguments.of(argument + json, "{\"v\":\"x\"}"),
                Arguments.of(json + argument + json, "{\"j\":1}"),
                Arguments.of("<|open|>json type=\"object\"<|sep|> \n<|close|>json<|sep|>", "{}"),
                Arguments.of("<|open|>argument type=\"string\"<|sep|>nameless<|close|>argument<|sep|>", "{}"),
                Arguments.of("<|open|>argument key=\"v\" type=\"string\"<|sep|>x" + argument, "{\"v\":\"x\"}"),
                Arguments.of("stray text" + argument, "{\"v\":\"x\"}"),
                Arguments.of(
                        "<|open|>argument key=\"a\nb\" type=\"string\"<|sep|>x<|close|>argument<|sep|>",
                        "{\"a\\nb\":\"x\"}"));
    }

    @ParameterizedTest
    @MethodSource("brokenCalls")
    void brokenCall_givesOneJsonObject(String elements, String arguments) {
        String script = Answers.CALL + elements + "<|close|>call<|sep|><|close|>tools<|sep|>" + Answers.END;
        assertThat(Answers.answer(script).calls()).singleElement().satisfies(c -> {
            assertThat(c.name()).isEqualTo("f");
            assertThat(c.arguments()).isEqualTo(arguments);
        });
    }

    @Test
    void closingTagWithoutSeparator_endsAtTheNextMarkerOrLineEnd() {
        assertThat(Answers.answer("r<|close|>think<|open|>response<|sep|>Hi" + Answers.END)
                        .content())
                .isEqualTo("Hi");
        assertThat(Answers.answer("r<|close|>think\n<|open|>response\nHi" + Answers.END)
                        .content())
                .isEqualTo("\nHi");
        assertThat(Answers.answer("r<|close|>think<|end_of_msg|>").reasoning()).isEqualTo("r");
    }

    @Test
    void callCutByTheStopId_isMarked() {
        String script = Answers.CALL + "<|open|>argument key=\"v\" type=\"string\"<|sep|>half<|end_of_msg|>";
        List<AnswerEvent> events = Answers.events(script, new Options(true, true, List.of()), End.LIMIT);
        assertThat(events).contains(new ToolCallCut(0)).doesNotContain(new ToolCallEnded(0));
        assertThat(events.getLast()).isEqualTo(new Finished(FinishReason.STOP));
        assertThat(Answers.answer(events).calls()).isEmpty();
    }

    @Test
    void stopString_cutsContentOnly_overTokenBorders() {
        String script = "the END here<|close|>think<|sep|><|open|>response<|sep|>one EN two END three";
        Answer answer = Answers.answer(script, "END", "never");
        assertThat(answer.reasoning()).isEqualTo("the END here");
        assertThat(answer.content()).isEqualTo("one EN two ");
        assertThat(answer.finishReason()).isEqualTo(FinishReason.STOP);
    }

    @Test
    void heldBackText_isReleasedWhenTheChannelEnds() {
        String script = Answers.RESPONSE + "almost EN<|close|>response<|sep|>" + Answers.END;
        assertThat(Answers.answer(script, "END").content()).isEqualTo("almost EN");
        assertThat(Answers.answer(Answers.RESPONSE + "almost EN", "END").content())
                .isEqualTo("almost EN");
    }

    @Test
    void stopString_atPositionZero_leavesNothing() {
        assertThat(Answers.answer(Answers.RESPONSE + "END", "END").content()).isEmpty();
    }

    @Test
    void reasoningTokens_countTheTextOfTheThinkChannel() {
        AnswerParser parser = new AnswerParser(Answers.TOKENIZER, new Options(true, true, List.of()));
        int[] thought = Answers.ids("I think so");
        for (int id : Answers.ids("I think so<|close|>think<|sep|><|open|>response<|sep|>Yes")) {
            parser.push(id);
        }
        assertThat(parser.reasoningTokens()).isEqualTo(thought.length);
    }

    @Test
    void otherControlTokens_neverShow() {
        Answer answer = Answers.answer("a<|media_pad|>b" + Answers.RESPONSE.substring(1) + "c[BOS]d<|sep|>e[EOS]f");
        assertThat(answer.reasoning()).isEqualTo("ab");
        assertThat(answer.content()).isEqualTo("cde");
        assertThat(answer.finishReason()).isEqualTo(FinishReason.STOP);
    }

    @Provide
    Arbitrary<List<String>> scripts() {
        return Arbitraries.of(
                        "<|open|>",
                        "<|close|>",
                        "<|sep|>",
                        "<|open|>response<|sep|>",
                        "<|close|>think<|sep|>",
                        "<|open|>tools<|sep|>",
                        "<|open|>call tool=\"f\"<|sep|>",
                        "<|close|>call<|sep|>",
                        "<|open|>argument key=\"k\" type=\"string\"<|sep|>",
                        "<|open|>argument key=\"n\" type=\"number\"<|sep|>",
                        "<|close|>argument<|sep|>",
                        "<|open|>json<|sep|>",
                        "<|close|>tools<|sep|>",
                        "think",
                        "x",
                        "\n",
                        "\"",
                        "{\"a\":1}",
                        "\ud83d\ude42",
                        "<|close|>message<|sep|>")
                .list()
                .ofMaxSize(30);
    }

    /** Whatever the model writes: no marker shows, arguments of a complete call parse, the deltas add up, one end. */
    @Property(tries = 1000)
    void anyAnswer_isReadWithoutALeak(@ForAll("scripts") List<String> parts, @ForAll boolean thinking) {
        String script = String.join("", parts) + "<|end_of_msg|>";
        List<AnswerEvent> events = Answers.events(script, new Options(thinking, true, List.of()), End.LIMIT);
        Answer answer = Answers.answer(events);
        for (int i = 0; i < 4; i++) {
            assertThat(answer.reasoning() + answer.content()).doesNotContain(MARKERS.split("(?<=>)")[i]);
        }
        assertThat(events.stream().filter(Finished.class::isInstance)).hasSize(1);
        assertThat(events.getLast()).isInstanceOf(Finished.class);
        long started = events.stream().filter(ToolCallStarted.class::isInstance).count();
        long closed = events.stream()
                .filter(e -> e instanceof ToolCallEnded || e instanceof ToolCallCut)
                .count();
        assertThat(closed).isEqualTo(started);
        assertThat(answer.calls().stream().map(Answer.Call::arguments)).noneMatch(String::isBlank);
    }
}
