package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;

/** Texts, corpora and decodings of the golden file, in the released vocabulary. */
class TokenizerGoldenTest {

    private final Tokenizer tokenizer = Golden.Kimi.TOKENIZER;

    @TestFactory
    Stream<DynamicTest> texts() {
        JsonNode cases = Golden.FILE.path("cases");
        assertThat(cases.size()).isEqualTo(284);
        return cases.valueStream()
                .map(c -> DynamicTest.dynamicTest(c.path("name").stringValue(), () -> {
                    int[] ids = encode(text(c), c.path("special").asBoolean(false));
                    if (c.has("ids")) {
                        assertThat(ids).containsExactly(Golden.ids(c.path("ids")));
                    } else {
                        assertThat(ids).hasSize(c.path("count").intValue());
                        assertThat(Golden.sha256(ids))
                                .isEqualTo(c.path("sha256").stringValue());
                    }
                    assertThat(tokenizer.decode(ids)).isEqualTo(PythonText.repairSurrogates(text(c)));
                }));
    }

    private int[] encode(String text, boolean controls) {
        return controls ? tokenizer.encodeWithControls(text, Tokenizer.NEVER) : tokenizer.encode(text);
    }

    private static String text(JsonNode c) {
        StringBuilder text = new StringBuilder(c.path("text").asString(""));
        for (JsonNode repeat : c.path("recipe").path("repeat")) {
            text.repeat(repeat.get(0).stringValue(), repeat.get(1).intValue());
        }
        for (JsonNode unit : c.path("utf16")) {
            text.append((char) unit.intValue());
        }
        return text.toString();
    }

    @TestFactory
    Stream<DynamicTest> corpora() {
        return Golden.FILE
                .path("corpora")
                .valueStream()
                .map(c -> DynamicTest.dynamicTest(c.path("name").stringValue(), () -> corpus(c)));
    }

    /** Every triple of awkward fragments, hashed with FNV-1a as the file says. */
    private void corpus(JsonNode corpus) {
        List<String> fragments = corpus.path("fragments")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
        boolean controls = corpus.path("special").booleanValue();
        long hash = 0xcbf29ce484222325L;
        int count = 0;
        for (String left : fragments) {
            for (String middle : fragments) {
                for (String right : fragments) {
                    int[] ids = encode(left + middle + right, controls);
                    count += ids.length;
                    hash = fnv(hash, ids.length);
                    for (int id : ids) {
                        hash = fnv(hash, id);
                    }
                }
            }
        }
        assertThat(count).isEqualTo(corpus.path("count").intValue());
        assertThat(Long.toHexString(hash)).isEqualTo(corpus.path("fnv1a64").stringValue());
    }

    private static long fnv(long hash, int value) {
        for (int shift = 0; shift < 32; shift += 8) {
            hash = (hash ^ (value >>> shift & 0xFF)) * 0x100000001b3L;
        }
        return hash;
    }

    @TestFactory
    Stream<DynamicTest> decodings() {
        JsonNode decode = Golden.FILE.path("decode");
        assertThat(decode.size()).isEqualTo(20);
        return decode.valueStream()
                .map(c -> DynamicTest.dynamicTest(c.path("name").stringValue(), () -> {
                    StreamDecoder decoder = new StreamDecoder(tokenizer, StreamDecoder.Controls.SPELLED);
                    List<String> chunks = new ArrayList<>();
                    for (int id : Golden.ids(c.path("ids"))) {
                        chunks.add(decoder.push(id));
                    }
                    chunks.add(decoder.finish());
                    assertThat(chunks)
                            .containsExactlyElementsOf(c.path("chunks")
                                    .valueStream()
                                    .map(JsonNode::stringValue)
                                    .toList());
                }));
    }
}
