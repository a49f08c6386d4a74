package ai.deltafin.chat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The golden vectors and the two vocabularies, read once. */
final class Golden {

    static final JsonNode FILE = file();

    private Golden() {}

    /** The released K3 vocabulary. */
    static final class Kimi {
        static final Tokenizer TOKENIZER = Tokenizer.open(directory("/kimi"));

        private Kimi() {}
    }

    /** The demo checkpoint's vocabulary. */
    static final class Demo {
        static final Tokenizer TOKENIZER = Tokenizer.open(directory("/demo/k3-demo"));

        private Demo() {}
    }

    static Path directory(String resource) {
        try {
            return Path.of(Golden.class
                            .getResource(resource + "/tiktoken.model")
                            .toURI())
                    .getParent();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static JsonNode file() {
        try (InputStream in = Golden.class.getResourceAsStream("/chat/tokenizer-golden.json")) {
            return JsonMapper.shared().readTree(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int[] ids(JsonNode array) {
        return IntStream.range(0, array.size())
                .map(i -> array.get(i).intValue())
                .toArray();
    }

    /** SHA-256 over the ids as little-endian 32-bit integers. */
    static String sha256(int[] ids) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * ids.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(ids);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
