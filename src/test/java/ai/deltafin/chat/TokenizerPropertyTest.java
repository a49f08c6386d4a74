package ai.deltafin.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.knuddels.jtokkit.api.IntArrayList;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What must hold for every text. */
class TokenizerPropertyTest {

    private static final List<String> AWKWARD = List.of(
            " ",
            "  ",
            "\t",
            "\n",
            "\r\n",
            "\u00a0",
            "\u3000",
            "\u001c",
            "a",
            "A",
            "'s",
            "'LL",
            "12345",
            "\u6c49",
            "\u3007",
            "e\u0301",
            "\ud83d\ude42",
            "\u200d",
            "\u0939\u093f",
            "...",
            "<|open|>",
            "<|close|>",
            "<|sep|>",
            "[BOS]",
            "[EOS]",
            "<|end_of_msg|>",
            "<|reserved_token_163592|>",
            "<|media_pad|>",
            "_x",
            "\ud800",
            "\udc00");

    private final Tokenizer tokenizer = Golden.Kimi.TOKENIZER;

    @Provide
    Arbitrary<String> texts() {
        Arbitrary<String> pieces = Arbitraries.oneOf(
                Arbitraries.of(AWKWARD),
                Arbitraries.strings().ofMaxLength(4),
                Arbitraries.strings().ascii().ofMaxLength(6));
        return pieces.list().ofMaxSize(40).map(parts -> String.join("", parts));
    }

    @Provide
    Arbitrary<String> longPieces() {
        Arbitrary<String> alphabet = Arbitraries.of(
                "ab", "aA", "\u6c49\u5b57\u7684", "!?-_", "abcdefghijklmnop", " ", "\n", "\ud83d\ude42\u200d");
        return alphabet.flatMap(chars -> Arbitraries.strings()
                .withChars(chars.toCharArray())
                .ofMinLength(60)
                .ofMaxLength(900));
    }

    @Property(tries = 400)
    void encode_thenDecode_isTheText(@ForAll("texts") String text) {
        String repaired = PythonText.repairSurrogates(text);
        assertThat(tokenizer.decode(tokenizer.encode(text))).isEqualTo(repaired);
        assertThat(tokenizer.decode(tokenizer.encodeWithControls(text, Tokenizer.NEVER)))
                .isEqualTo(repaired);
    }

    @Property(tries = 400)
    void encode_neverGivesAControlToken(@ForAll("texts") String text) {
        assertThat(Arrays.stream(tokenizer.encode(text)).filter(tokenizer.controls()::contains))
                .isEmpty();
    }

    @Property(tries = 200)
    void utf8_ofText_isTheText_whereverItIsCut(@ForAll("texts") String text, @ForAll long seed) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(decodeInPieces(bytes, seed)).isEqualTo(new String(bytes, StandardCharsets.UTF_8));
    }

    @Property(tries = 400)
    void utf8_ofAnyBytes_doesNotDependOnTheCuts(@ForAll byte[] bytes, @ForAll long seed) {
        Utf8Decoder whole = new Utf8Decoder();
        StringBuilder text = new StringBuilder();
        whole.push(bytes, text);
        whole.finish(text);
        assertThat(decodeInPieces(bytes, seed)).isEqualTo(text.toString());
    }

    private static String decodeInPieces(byte[] bytes, long seed) {
        Random random = new Random(seed);
        Utf8Decoder pieces = new Utf8Decoder();
        StringBuilder joined = new StringBuilder();
        for (int at = 0; at < bytes.length; ) {
            int end = Math.min(bytes.length, at + random.nextInt(4));
            pieces.push(Arrays.copyOfRange(bytes, at, end), joined);
            at = end;
        }
        pieces.finish(joined);
        return joined.toString();
    }

    /** Both encoders of ordinary text, piece by piece: the rule (lowest rank, then leftmost) and JTokkit's. */
    @Property(tries = 300)
    void heapMerge_equalsJTokkit(@ForAll("longPieces") String text) {
        OrdinaryEncoder jtokkit = JTokkitOnly.ENCODER;
        Matcher pieces = OrdinaryEncoder.SPLIT.matcher(text);
        while (pieces.find()) {
            byte[] piece = pieces.group().getBytes(StandardCharsets.UTF_8);
            IntArrayList merged = new IntArrayList();
            new BytePairMerge(JTokkitOnly.RANKS).encode(piece, merged);
            assertThat(merged.toArray()).isEqualTo(jtokkit.jtokkit(pieces.group()));
            assertThat(merged.toArray()).isEqualTo(naive(piece));
        }
    }

    /** Slices, shortcuts and the second encoder change nothing: piece by piece gives the same ids. */
    @Property(tries = 30)
    void encode_ofLongText_equalsPieceByPiece(@ForAll long seed) {
        Random random = new Random(seed);
        List<String> words = List.of(
                " word",
                " a",
                "\n",
                "\r\n",
                "x",
                " 12",
                "\u6c49\u5b57",
                "\u3002",
                "  ",
                "\t",
                "'s",
                " \u00e9",
                "z".repeat(90),
                "\u001c!");
        StringBuilder text = new StringBuilder();
        while (text.length() < 40_000) {
            text.append(words.get(random.nextInt(words.size())));
        }
        IntArrayList expected = new IntArrayList();
        for (String piece : PreCuts.of(text.toString())) {
            Matcher pieces = OrdinaryEncoder.SPLIT.matcher(piece);
            while (pieces.find()) {
                for (int id : JTokkitOnly.ENCODER.jtokkit(pieces.group())) {
                    expected.add(id);
                }
            }
        }
        assertThat(tokenizer.encode(text.toString())).isEqualTo(expected.toArray());
    }

    /** The rule itself, scanned anew for each merge. */
    private static int[] naive(byte[] piece) {
        List<Integer> ends = new ArrayList<>();
        for (int i = 1; i <= piece.length; i++) {
            ends.add(i);
        }
        while (true) {
            int best = Integer.MAX_VALUE;
            int at = -1;
            for (int i = 0; i + 1 < ends.size(); i++) {
                int rank = JTokkitOnly.RANKS.id(piece, i == 0 ? 0 : ends.get(i - 1), ends.get(i + 1));
                if (rank != RankTable.NONE && rank < best) {
                    best = rank;
                    at = i;
                }
            }
            if (at < 0) {
                break;
            }
            ends.remove(at);
        }
        int[] ids = new int[ends.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = JTokkitOnly.RANKS.id(piece, i == 0 ? 0 : ends.get(i - 1), ends.get(i));
        }
        return ids;
    }

    private static final class JTokkitOnly {
        static final RankTable RANKS = RankTable.read(Golden.directory("/kimi").resolve("tiktoken.model"));
        static final OrdinaryEncoder ENCODER = new OrdinaryEncoder(RANKS);
    }
}
