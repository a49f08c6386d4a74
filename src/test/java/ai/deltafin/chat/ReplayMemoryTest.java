package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplayMemoryTest {

    private static final String SCRIPT = Answers.CALL
            + "<|open|>argument key=\"o\" type=\"object\"<|sep|>{\"a\":1.50,\"b\":[1,2]}<|close|>argument<|sep|>"
            + "<|open|>argument key=\"s\" type=\"string\"<|sep|>x<|close|>argument<|sep|>"
            + "<|close|>call<|sep|><|close|>tools<|sep|>" + Answers.END;

    private final ReplayMemory memory = new ReplayMemory(Answers.TOKENIZER, 1 << 20);

    private static int[] prompt(List<Message> messages, Replay replay) {
        Rendered rendered = ChatRenderer.render(ChatRequest.of(messages, Thinking.MAX), replay);
        return Answers.TOKENIZER.encode(rendered.segments(), Tokenizer.NEVER);
    }

    private static Message.Assistant callWith(String arguments) {
        return new Message.Assistant(List.of(), null, "r", List.of(ToolCall.of("any", "f", arguments)), false);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"o\":{\"a\":1.50,\"b\":[1,2]},\"s\":\"x\"}",
                "{ \"s\": \"x\", \"o\": { \"b\": [1, 2], \"a\": 1.5 } }",
                "{\"o\":{\"a\":15e-1,\"b\":[1.0,2]},\"s\":\"\\u0078\"}"
            })
    void reformattedCall_continuesTheGeneratedIds(String arguments) {
        int[] generated = Answers.ids(SCRIPT);
        memory.remember(Answers.answer(SCRIPT).asMessage(), true, generated);
        int[] first = prompt(List.of(Message.User.of("q")), Replay.NONE);
        int[] expected =
                IntStream.concat(IntStream.of(first), IntStream.of(generated)).toArray();
        int[] next = prompt(List.of(Message.User.of("q"), callWith(arguments), Message.Tool.of("any", "done")), memory);
        assertThat(next).startsWith(expected);
        int[] rendered = prompt(List.of(Message.User.of("q"), callWith(arguments)), Replay.NONE);
        assertThat(Arrays.copyOf(rendered, expected.length)).isNotEqualTo(expected);
    }

    @Test
    void otherContent_isRendered() {
        memory.remember(Answers.answer(SCRIPT).asMessage(), true, Answers.ids(SCRIPT));
        assertThat(memory.find(callWith("{\"o\":{\"a\":1.5,\"b\":[2,1]},\"s\":\"x\"}"), true))
                .isNull();
        assertThat(memory.find(callWith("{\"o\":{\"a\":1.5,\"b\":[1,2]},\"s\":\"x\"}"), false))
                .isNull();
    }

    @Test
    void largeIntegers_areNotConfused() {
        memory.remember(callWith("{\"id\":12345678901234567890}"), true, Answers.ids("x<|end_of_msg|>"));
        assertThat(memory.find(callWith("{\"id\":12345678901234567891}"), true)).isNull();
    }

    @Test
    void unfinishedAnswer_isNotRemembered() {
        memory.remember(Message.Assistant.of("r", "half"), true, Answers.ids("r<|close|>think"));
        assertThat(memory.find(Message.Assistant.of("r", "half"), true)).isNull();
    }

    @Test
    void memory_keepsItsBound() {
        ReplayMemory small = new ReplayMemory(Answers.TOKENIZER, 1000);
        int[] ids = Answers.ids("word ".repeat(20) + "<|end_of_msg|>");
        for (int i = 0; i < 100; i++) {
            small.remember(Message.Assistant.of("", "answer " + i), true, ids);
        }
        long kept = IntStream.range(0, 100)
                .filter(i -> small.find(Message.Assistant.of("", "answer " + i), true) != null)
                .count();
        assertThat(kept).isBetween(1L, 5L);
    }
}
