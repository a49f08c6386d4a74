package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Every chat of the golden file, in both vocabularies, through the renderer and through the command line's service. */
class ChatGoldenTest {

    @TestFactory
    Stream<DynamicTest> chats() {
        JsonNode chats = Golden.FILE.path("chat");
        assertThat(chats.size()).isEqualTo(95);
        return chats.valueStream()
                .map(c -> DynamicTest.dynamicTest(c.path("name").stringValue(), () -> {
                    if (c.has("error")) {
                        refused(c.path("request"));
                    } else {
                        rendered(c);
                    }
                }));
    }

    private static void refused(JsonNode request) {
        assertThatThrownBy(() -> ChatRenderer.render(ChatRequestJson.read(request)))
                .isInstanceOfSatisfying(
                        ChatException.class, e -> assertThat(e.getMessage()).startsWith(e.field()));
        assertThat(line(Golden.Demo.TOKENIZER, request).has("error")).isTrue();
    }

    private static void rendered(JsonNode c) {
        Rendered rendered = ChatRenderer.render(ChatRequestJson.read(c.path("request")));
        assertThat(rendered.text()).isEqualTo(c.path("text").stringValue());
        assertThat(Golden.Kimi.TOKENIZER.encode(rendered.segments(), Tokenizer.NEVER))
                .containsExactly(Golden.ids(c.path("ids")));
        assertThat(Golden.Demo.TOKENIZER.encode(rendered.segments(), Tokenizer.NEVER))
                .containsExactly(Golden.ids(c.path("demo_ids")));
        JsonNode line = line(Golden.Kimi.TOKENIZER, c.path("request"));
        assertThat(line.path("text").stringValue()).isEqualTo(c.path("text").stringValue());
        assertThat(Golden.ids(line.path("ids"))).containsExactly(Golden.ids(c.path("ids")));
    }

    private static JsonNode line(Tokenizer tokenizer, JsonNode request) {
        JsonMapper mapper = JsonMapper.shared();
        String line = mapper.createObjectNode().set("chat", request).toString();
        return mapper.readTree(new TokenizeLine(tokenizer, Tokenizer.NEVER).tokenize(line));
    }
}
