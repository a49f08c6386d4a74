package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenizeLineTest {

    private final TokenizeLine service = new TokenizeLine(Golden.Kimi.TOKENIZER, Tokenizer.NEVER);

    @Test
    void text_isOrdinary_unlessSpecial() {
        assertThat(service.tokenize("{\"text\":\"[BOS]\"}"))
                .isEqualTo("{\"ids\":[33793,4110,60],\"text\":\"[BOS]\"}".replace("33793,4110", ids("[BOS]")));
        assertThat(service.tokenize("{\"text\":\"[BOS]\",\"special\":true}"))
                .isEqualTo("{\"ids\":[163584],\"text\":\"[BOS]\"}");
    }

    private static String ids(String text) {
        int[] ids = Golden.Kimi.TOKENIZER.encode(text);
        return ids[0] + "," + ids[1];
    }

    @Test
    void loneSurrogate_isReplaced() {
        assertThat(service.tokenize("{\"text\":\"a\\ud800b\"}"))
                .isEqualTo("{\"ids\":[64,9618,65],\"text\":\"a\ufffdb\"}");
    }

    @Test
    void detokenize_takesBothForms() {
        assertThat(service.detokenize("{\"ids\":[19180,11,2695,0,163586]}"))
                .isEqualTo("{\"text\":\"Hello, world!<|end_of_msg|>\"}");
        assertThat(service.detokenize("[5885]")).isEqualTo("{\"text\":\"\ufffd\"}");
    }

    @Test
    void droppedRole_isSaid() {
        assertThat(service.tokenize("{\"chat\":{\"messages\":[{\"role\":\"developer\",\"content\":\"x\"}]}}"))
                .contains("\"warnings\":[\"messages[0]: the format has no role");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{ | not valid JSON",
                "{\"text\":1} | text: must be a string",
                "{\"text\":\"x\",\"chat\":{}} | line: must be an object with either",
                "[] | line: must be an object with either",
                "{\"txt\":\"x\"} | txt: unknown field",
                "{\"chat\":{}} | messages: must be an array",
                "{\"chat\":{\"messages\":[],\"temperature\":1}} | temperature: unknown field",
                "{\"chat\":{\"messages\":[{\"role\":\"user\",\"content\":5}]}} | messages[0].content: must be an array",
                "{\"chat\":{\"messages\":[{\"role\":\"user\",\"extra\":5}]}} | messages[0].extra: unknown field",
                "{\"chat\":{\"messages\":[{\"content\":\"x\"}]}} | messages[0].role: missing",
                "{\"chat\":{\"messages\":[],\"thinking_effort\":\"medium\"}} | thinking_effort: must be low, high or max",
                "{\"chat\":{\"messages\":[],\"image_prompts\":\"x\"}} | image_prompts: must be an array",
            })
    void badLine_isAnsweredWithTheField(String line, String error) {
        assertThat(service.tokenize(line)).startsWith("{\"error\":\"" + error);
    }

    @Test
    void deepNesting_isRefused() {
        assertThat(service.tokenize("{\"chat\":{\"messages\":[],\"tools\":" + "[".repeat(100_000)))
                .contains("error");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {"[1.5]|ids[0]", "[-1]|ids[0]", "[0,163840]|ids[1]", "{}|ids", "[99999999999]|ids[0]"})
    void badIds_areRefused(String line, String field) {
        assertThat(service.detokenize(line)).startsWith("{\"error\":\"" + field);
    }
}
