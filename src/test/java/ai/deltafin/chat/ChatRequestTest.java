package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.deltafin.chat.MessagesJson.Dialect;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Request shapes that clients send, and refusals by field. */
class ChatRequestTest {

    private static List<Message> read(String json, Dialect dialect) {
        return MessagesJson.strict(dialect).messages(PythonJson.READER.readTree(json), "messages");
    }

    private static String text(String messages) {
        return ChatRenderer.render(ChatRequest.of(read(messages, Dialect.OPENAI), Thinking.UNSTATED))
                .text();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[{\"role\":\"assistant\",\"content\":null}]",
                "[{\"role\":\"assistant\",\"content\":\"\"}]",
                "[{\"role\":\"assistant\",\"content\":[]}]",
                "[{\"role\":\"assistant\",\"refusal\":null,\"annotations\":[]}]",
                "[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"tool_calls\":[]}]"
            })
    void emptyAnswer_readsAlikeInEveryShape(String messages) {
        assertThat(text(messages)).isEqualTo(text("[{\"role\":\"assistant\"}]"));
    }

    @Test
    void developer_isSystem() {
        assertThat(text("[{\"role\":\"developer\",\"content\":\"Rules\"}]"))
                .isEqualTo(text("[{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Rules\"}]}]"));
    }

    @Test
    void reasoning_readsAlikeInThreeShapes() {
        String expected = text("[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":\"why\"}]");
        assertThat(text("[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning\":\"why\"}]"))
                .isEqualTo(expected);
        Message.Assistant tagged =
                Message.Assistant.of("", "<think>why</think>\n\na").withThinkTagsAsReasoning();
        assertThat(ChatRenderer.render(ChatRequest.of(List.of(tagged), Thinking.UNSTATED))
                        .text())
                .isEqualTo(expected);
        Message.Assistant plain = Message.Assistant.of("", "no <think>tags</think>");
        assertThat(plain.withThinkTagsAsReasoning()).isSameAs(plain);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[{\"role\":\"robot\"}] | messages[0].role",
                "[5] | messages[0]",
                "[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\"}]}] | messages[0].content[0]",
                "[{\"role\":\"user\",\"content\":[{\"text\":\"x\",\"odd\":1}]}] | messages[0].content[0].odd",
                "[{\"role\":\"user\",\"name\":5}] | messages[0].name",
                "[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\"}]}] | messages[0].tool_calls[0].name",
                "[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":5}}]}] | messages[0].tool_calls[0].function.arguments",
                "[{\"role\":\"system\",\"tools\":[{\"type\":\"x\"}]}] | messages[0].tools[0].type",
            })
    void badMessage_isRefusedByField(String messages, String field) {
        assertThatThrownBy(() -> read(messages, Dialect.OPENAI))
                .isInstanceOfSatisfying(
                        ChatException.class, e -> assertThat(e.field()).isEqualTo(field));
    }

    @Test
    void unknownFields_goToTheHandler() {
        List<String> seen = new ArrayList<>();
        MessagesJson lenient = new MessagesJson(Dialect.OPENAI, seen::add);
        lenient.messages(PythonJson.READER.readTree("[{\"role\":\"user\",\"weight\":1,\"audio\":null}]"), "messages");
        assertThat(seen).containsExactly("messages[0].weight");
    }

    @Test
    void toolsDeclaredTwice_areRefused() {
        String tool = "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}";
        assertThatThrownBy(() -> MessagesJson.strict(Dialect.OPENAI)
                        .tools(PythonJson.READER.readTree("[" + tool + "," + tool + "]"), "tools"))
                .hasMessageStartingWith("tools[1].function.name: \"f\" is declared twice");
    }

    @Test
    void systemMessageWithToolsAndContent_isRefused() {
        List<Message> messages =
                read("[{\"role\":\"system\",\"content\":\"x\",\"tools\":[{\"a\":1}]}]", Dialect.REFERENCE);
        assertThatThrownBy(() -> ChatRenderer.render(ChatRequest.of(messages, Thinking.OFF)))
                .hasMessageStartingWith("messages[0].content");
    }

    @Test
    void image_isRefusedByNameWhereOnlyTextIsRead() {
        List<Message> messages = read(
                "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"image_url\"}]}]",
                Dialect.OPENAI);
        assertThatThrownBy(() -> ChatRequest.of(messages, Thinking.OFF).requireTextOnly())
                .isInstanceOfSatisfying(
                        ChatException.class, e -> assertThat(e.field()).isEqualTo("messages[0].content[1]"));
    }

    @Test
    void partialAnswer_isLeftOpen() {
        assertThat(text("[{\"role\":\"assistant\",\"content\":\"Once\",\"partial\":true}]"))
                .isEqualTo("<|open|>message role=\"assistant\"<|sep|><|open|>think<|sep|><|close|>think<|sep|>"
                        + "<|open|>response<|sep|>Once");
        assertThatThrownBy(() -> text("[{\"role\":\"assistant\",\"partial\":true},{\"role\":\"user\"}]"))
                .hasMessageStartingWith("messages[0].partial");
    }

    @Test
    void history_isTheCommonPrefixOfTheNextTurn() {
        List<Message> messages = List.of(Message.User.of("a"));
        ChatRequest required = new ChatRequest(
                messages,
                List.of(),
                Thinking.MAX,
                ToolChoice.REQUIRED,
                new ResponseFormat.JsonObject(),
                List.of(),
                true);
        Rendered first = ChatRenderer.render(required);
        Rendered next = ChatRenderer.render(ChatRequest.of(
                List.of(Message.User.of("a"), Message.Assistant.of("", "b"), Message.User.of("c")), Thinking.MAX));
        List<Segment> history = first.segments().subList(0, first.historySegments());
        assertThat(next.segments()).startsWith(history.toArray(Segment[]::new));
        assertThat(history.getLast()).isEqualTo(new Segment.Control(Segment.Marker.END_OF_MESSAGE));
    }

    @ParameterizedTest
    @CsvSource({"none,OFF", "minimal,LOW", "low,LOW", "medium,HIGH", "high,HIGH", "xhigh,MAX", "max,MAX"})
    void efforts_mapToThoseTheModelKnows(String effort, Thinking thinking) {
        assertThat(Thinking.ofEffort(effort, "reasoning_effort")).isEqualTo(thinking);
    }

    @Test
    void unknownEffort_isRefused() {
        assertThatThrownBy(() -> Thinking.ofEffort("lots", "reasoning_effort"))
                .isInstanceOfSatisfying(
                        ChatException.class, e -> assertThat(e.field()).isEqualTo("reasoning_effort"));
    }

    @ParameterizedTest
    @CsvSource({
        "1e5,100000.0",
        "1.0,1.0",
        "1E-7,1e-07",
        "1e16,1e+16",
        "9007199254740993.0,9007199254740992.0",
        "-0.0,-0.0",
        "0.0001,0.0001",
        "0.00001,1e-05",
        "5e-324,5e-324",
        "2e-323,2e-323",
        "123456789.125,123456789.125",
        "1.7976931348623157e308,1.7976931348623157e+308",
        "2e23,2e+23",
        "1e22,1e+22",
        "123456789012345680.0,1.2345678901234568e+17"
    })
    void floats_arePrintedAsPythonDoes(String json, String python) {
        assertThat(PythonJson.number(Double.parseDouble(json))).isEqualTo(python);
    }
}
