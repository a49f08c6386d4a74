package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Damaged configs, indexes and headers: each opens or is refused by a {@link ModelException}, and allocates little either
 * way. A failure names the seed and the round; run the one seed again to repeat it.
 */
final class FuzzTest {
    private static final int ROUNDS = 400;
    private static final long MAX_ALLOCATED = 64L << 20;
    private static final String SHARD = "model.safetensors";
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final List<String> VALUES = List.of(
            "0",
            "-1",
            "1",
            "2",
            "31",
            "32",
            "4097",
            "16777217",
            "2147483647",
            "2147483648",
            "4294967296",
            "9223372036854775807",
            "18446744073709551616",
            "1e308",
            "1e999",
            "0.5",
            "null",
            "true",
            "[]",
            "{}",
            "\"\"",
            "9".repeat(90),
            "9".repeat(200));

    @TempDir
    Path temporary;

    private int refused;
    private int opened;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    @Timeout(300)
    void damage_isRefusedOrHarmless(long seed) throws IOException {
        var random = new SplittableRandom(seed);
        Path directory = new TinyCheckpoint().shards(1).seed(seed).write(temporary);
        List<String> files = List.of("config.json", "model.safetensors.index.json", SHARD);
        for (int round = 0; round < ROUNDS; round++) {
            Path file = directory.resolve(files.get(random.nextInt(files.size())));
            byte[] good = Files.readAllBytes(file);
            byte[] bad = file.endsWith(SHARD) ? damagedShard(good, random) : damagedJson(good, random);
            Files.write(file, bad);
            open(directory, "seed " + seed + ", round " + round + ", " + file.getFileName());
            Files.write(file, good);
        }
        assertThat(refused).as("most damage is seen").isGreaterThan(ROUNDS / 2);
        assertThat(opened).as("some damage is harmless").isPositive();
        Checkpoint.open(directory).close();
    }

    private void open(Path directory, String where) {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            Checkpoint.open(directory).close();
            opened++;
        } catch (ModelException e) {
            refused++;
            assertThat(e.getMessage()).as(where).isNotBlank().hasSizeLessThan(6000);
        } catch (RuntimeException | Error e) {
            throw new AssertionError(where, e);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).as(where).isLessThan(MAX_ALLOCATED);
    }

    /** Damages the header alone, with a length that fits it, or anything at all. */
    private static byte[] damagedShard(byte[] good, SplittableRandom random) {
        if (random.nextInt(4) == 0) {
            return damagedBytes(good, random);
        }
        var all = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN);
        int header = Math.toIntExact(all.getLong(0));
        byte[] bad = damagedJson(Arrays.copyOfRange(good, 8, 8 + header), random);
        var out = ByteBuffer.allocate(8 + bad.length + good.length - 8 - header).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(bad.length).put(bad).put(good, 8 + header, good.length - 8 - header);
        return out.array();
    }

    private static byte[] damagedJson(byte[] good, SplittableRandom random) {
        return switch (random.nextInt(3)) {
            case 0 -> damagedBytes(good, random);
            case 1 -> replacedNumber(good, random);
            default -> damagedTree(good, random);
        };
    }

    private static byte[] damagedBytes(byte[] good, SplittableRandom random) {
        byte[] bad = good.clone();
        int at = random.nextInt(good.length);
        int length = 1 + random.nextInt(Math.min(64, good.length - at));
        switch (random.nextInt(4)) {
            case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
            case 1 -> bad = Arrays.copyOf(good, at);
            case 2 -> bad = joined(Arrays.copyOf(good, at), Arrays.copyOfRange(good, at + length, good.length));
            default -> bad = joined(Arrays.copyOf(good, at + length), Arrays.copyOfRange(good, at, good.length));
        }
        return bad;
    }

    private static byte[] joined(byte[] head, byte[] tail) {
        return ByteBuffer.allocate(head.length + tail.length)
                .put(head)
                .put(tail)
                .array();
    }

    private static byte[] replacedNumber(byte[] good, SplittableRandom random) {
        String text = new String(good, StandardCharsets.ISO_8859_1);
        Matcher numbers = NUMBER.matcher(text);
        numbers.find(random.nextInt(text.length() / 2));
        String bad = text.substring(0, numbers.start())
                + VALUES.get(random.nextInt(VALUES.size()))
                + text.substring(numbers.end());
        return bad.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Removes, replaces, renames or repeats one node of the tree. */
    private static byte[] damagedTree(byte[] good, SplittableRandom random) {
        JsonNode tree = JSON.readTree(good);
        List<JsonNode> containers = new ArrayList<>();
        collect(tree, containers);
        JsonNode at = containers.get(random.nextInt(containers.size()));
        JsonNode value =
                JSON.readTree(VALUES.get(random.nextInt(VALUES.size() - 1)).replace("1e999", "7"));
        if (at instanceof ArrayNode array) {
            int i = random.nextInt(array.size());
            switch (random.nextInt(3)) {
                case 0 -> array.remove(i);
                case 1 -> array.set(i, value);
                default -> array.add(array.get(i));
            }
        } else if (at instanceof ObjectNode object) {
            List<String> names = List.copyOf(object.propertyNames());
            String name = names.get(random.nextInt(names.size()));
            switch (random.nextInt(3)) {
                case 0 -> object.remove(name);
                case 1 -> object.set(name, value);
                default -> object.set(name + "x", object.remove(name));
            }
        }
        return JSON.writeValueAsBytes(tree);
    }

    private static void collect(JsonNode node, List<JsonNode> containers) {
        if (node.isContainer() && !node.isEmpty()) {
            containers.add(node);
            node.forEach(child -> collect(child, containers));
        }
    }
}
