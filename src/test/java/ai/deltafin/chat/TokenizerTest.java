package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Files that are no tokenizer, cancellation, and inputs that are quadratic elsewhere. */
class TokenizerTest {

    @TempDir
    Path directory;

    private static byte[] demo(String file) throws IOException {
        return Files.readAllBytes(Golden.directory("/demo/k3-demo").resolve(file));
    }

    private void copyDemo() throws IOException {
        Files.write(directory.resolve("tiktoken.model"), demo("tiktoken.model"));
        Files.write(directory.resolve("tokenizer_config.json"), demo("tokenizer_config.json"));
    }

    private void refused(String... says) {
        assertThatThrownBy(() -> Tokenizer.open(directory))
                .isInstanceOf(TokenizerException.class)
                .hasMessageContaining(directory.toString())
                .hasMessageContainingAll(says);
    }

    @Test
    void open_needsTheTwoFilesAlone() throws IOException {
        copyDemo();
        Tokenizer tokenizer = Tokenizer.open(directory);
        assertThat(tokenizer.size()).isEqualTo(6144);
        assertThat(tokenizer.controls().endOfMessage()).isEqualTo(5890);
        assertThat(tokenizer.controls().sep()).isEqualTo(5893);
    }

    /** The bound is two seconds; ten allow for a busy machine. */
    @Test
    void open_ofTheReleasedVocabulary_isQuick() {
        Tokenizer tokenizer =
                Assertions.assertTimeout(Duration.ofSeconds(10), () -> Tokenizer.open(Golden.directory("/kimi")));
        assertThat(tokenizer.size()).isEqualTo(163_840);
    }

    @Test
    void open_withoutFiles_saysWhatIsMissing() throws IOException {
        refused("tiktoken.model", "no such file");
        copyDemo();
        Files.delete(directory.resolve("tokenizer_config.json"));
        refused("tokenizer_config.json", "no such file");
    }

    static Stream<Arguments> badRanks() {
        return Stream.of(
                Arguments.of("AA== 0\nAQ== 2\n", "line 2: expected rank 1"),
                Arguments.of("AA== 0\nAQ==\n", "line 2: expected rank 1"),
                Arguments.of("AA== 0\n*** 1\n", "line 2: the token is not base64"),
                Arguments.of("AA== 0\n 1\n", "line 2: a token has 1 to"),
                Arguments.of("AA== 0\nAA== 1\n", "line 2 repeats the token of line 1"),
                Arguments.of("AA== 0\nAQ== 1\n", "no token for the single byte 0x2"),
                Arguments.of("", "no token for the single byte 0x0"));
    }

    @ParameterizedTest
    @MethodSource("badRanks")
    void open_withBadRankFile_namesTheLine(String file, String says) throws IOException {
        copyDemo();
        Files.writeString(directory.resolve("tiktoken.model"), file);
        refused("tiktoken.model", says);
    }

    @Test
    void open_withHugeRankFile_stopsReading() throws IOException {
        copyDemo();
        Files.write(directory.resolve("tiktoken.model"), new byte[(8 << 20) + 1]);
        refused("too large");
    }

    static Stream<Arguments> badConfigs() {
        return Stream.of(
                Arguments.of("{", "not valid JSON"),
                Arguments.of("{}", "added_tokens_decoder"),
                Arguments.of("{\"added_tokens_decoder\":{\"17\":{\"content\":\"x\"}}}", "not one of 5888..6143"),
                Arguments.of("{\"added_tokens_decoder\":{\"5888\":{}}}", "5888 has no text"),
                Arguments.of("{\"added_tokens_decoder\":{}}", "5888 must be [BOS]"));
    }

    @ParameterizedTest
    @MethodSource("badConfigs")
    void open_withBadConfig_saysWhat(String file, String says) throws IOException {
        copyDemo();
        Files.writeString(directory.resolve("tokenizer_config.json"), file);
        refused("tokenizer_config.json", says);
    }

    @Test
    void open_withSpellingThatBeginsAnother_isRefused() throws IOException {
        copyDemo();
        String config = new String(demo("tokenizer_config.json"), StandardCharsets.UTF_8);
        Files.writeString(directory.resolve("tokenizer_config.json"), config.replace("<|media_pad|>", "<|open|>x"));
        refused("<|open|> is a prefix of <|open|>x");
    }

    @Test
    void decode_ofAnIdOutsideTheVocabulary_isRefused() {
        assertThatThrownBy(() -> Golden.Demo.TOKENIZER.decode(6144)).hasMessageContaining("0..6143");
        assertThatThrownBy(() -> Golden.Demo.TOKENIZER.decode(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void encode_stopsWhenCancelled() {
        AtomicInteger looks = new AtomicInteger();
        assertThatThrownBy(
                        () -> Golden.Kimi.TOKENIZER.encode("word ".repeat(200_000), () -> looks.incrementAndGet() > 5))
                .isInstanceOf(CancellationException.class);
        assertThat(looks).hasValue(6);
    }

    static Stream<Arguments> megabytes() {
        Random random = new Random(7);
        byte[] bytes = new byte[750_000];
        random.nextBytes(bytes);
        StringBuilder han = new StringBuilder();
        random.ints(333_333, 0x4E00, 0x9FA5).forEach(c -> han.append((char) c));
        return Stream.of(
                Arguments.of("one letter", "a".repeat(1_000_000)),
                Arguments.of("spaces", " ".repeat(1_000_000)),
                Arguments.of("line ends", "\n".repeat(1_000_000)),
                Arguments.of("hyphens", "-".repeat(1_000_000)),
                Arguments.of("one Han character", "\u54c8".repeat(333_333)),
                Arguments.of("Han", han.toString()),
                Arguments.of("base64", Base64.getEncoder().encodeToString(bytes)),
                Arguments.of("emoji", "\ud83d\ude42".repeat(250_000)),
                Arguments.of("control spellings", "<|open|>".repeat(125_000)));
    }

    /** The bound is under a second a megabyte; ten allow for a busy machine and still fail on anything quadratic. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("megabytes")
    void encode_ofAMegabyte_isNotQuadratic(String what, String text) {
        int[] ids = Assertions.assertTimeout(Duration.ofSeconds(10), () -> Golden.Kimi.TOKENIZER.encode(text));
        assertThat(Golden.Kimi.TOKENIZER.decode(ids)).isEqualTo(text);
    }
}
