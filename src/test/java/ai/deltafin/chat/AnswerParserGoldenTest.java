package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** Every answer of the golden file: what a client gets, whole and call by call. */
class AnswerParserGoldenTest {

    @TestFactory
    Stream<DynamicTest> answers() {
        JsonNode answers = Golden.FILE.path("parse");
        assertThat(answers.size()).isEqualTo(34);
        return answers.valueStream()
                .map(c -> DynamicTest.dynamicTest(c.path("name").stringValue(), () -> check(c)));
    }

    private static void check(JsonNode c) {
        AnswerParser parser = new AnswerParser(
                Golden.Kimi.TOKENIZER,
                new AnswerParser.Options(
                        c.path("thinking").booleanValue(),
                        c.path("tools_offered").booleanValue(),
                        List.of()));
        Answer.Assembler assembler = new Answer.Assembler();
        for (int id : Golden.ids(c.path("ids"))) {
            assembler.accept(parser.push(id));
        }
        if (c.path("stopped_by").stringValue().equals("limit")) {
            assertThat(parser.finished()).isFalse();
            assembler.accept(parser.finish(AnswerParser.End.LIMIT));
        }
        assertThat(parser.finished()).isTrue();
        Answer answer = assembler.answer();
        assertThat(answer.reasoning()).isEqualTo(c.path("reasoning").stringValue());
        assertThat(answer.content()).isEqualTo(c.path("content").stringValue());
        assertThat(answer.finishReason().name().toLowerCase(java.util.Locale.ROOT))
                .isEqualTo(c.path("finish_reason").stringValue());
        JsonNode calls = c.path("tool_calls");
        assertThat(answer.calls()).hasSize(calls.size());
        IntStream.range(0, calls.size()).forEach(i -> {
            assertThat(answer.calls().get(i).name())
                    .isEqualTo(calls.get(i).path("name").stringValue());
            assertThat(answer.calls().get(i).arguments())
                    .isEqualTo(calls.get(i).path("arguments").stringValue());
        });
        assertThat(answer.calls().stream().map(Answer.Call::id)).doesNotHaveDuplicates();
    }
}
