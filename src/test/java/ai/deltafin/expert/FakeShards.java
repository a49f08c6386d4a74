package ai.deltafin.expert;

import ai.deltafin.model.ExpertTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Files of random bytes that look like released shards: a header, then experts in physical, not numeric, order. */
final class FakeShards implements ExpertRanges {
    /** How the six parts of an expert lie. */
    enum Order {
        BACK_TO_BACK,
        SCATTERED
    }

    private final ExpertGeometry geometry;
    private final Path root;
    private final int[] bytes; // by part
    private final long[][] offsets; // [layers][experts * 6]
    private final byte[][] content;

    private FakeShards(ExpertGeometry geometry, Path root, int[] bytes, long[][] offsets, byte[][] content) {
        this.geometry = geometry;
        this.root = root;
        this.bytes = bytes;
        this.offsets = offsets;
        this.content = content;
    }

    static FakeShards write(Path root, ExpertGeometry g, int weightBytes, Order order, long seed) throws IOException {
        Random random = new Random(seed);
        int[] bytes = {weightBytes, weightBytes / 16, weightBytes, weightBytes / 16, weightBytes, weightBytes / 16};
        long[][] offsets = new long[g.layers()][g.experts() * 6];
        byte[][] content = new byte[g.layers()][];
        for (int l = 0; l < g.layers(); l++) {
            List<Integer> pieces = new ArrayList<>();
            for (int i = 0; i < g.experts(); i++) {
                pieces.add(i);
            }
            Collections.shuffle(pieces, random);
            if (order == Order.SCATTERED) {
                pieces.clear();
                for (int i = 0; i < g.experts() * 6; i++) {
                    pieces.add(i);
                }
                Collections.shuffle(pieces, random);
            }
            int at = 8 + random.nextInt(9000);
            for (int piece : pieces) {
                int from = order == Order.SCATTERED ? piece : piece * 6;
                int to = order == Order.SCATTERED ? piece + 1 : piece * 6 + 6;
                for (int p = from; p < to; p++) {
                    offsets[l][p] = at;
                    at += bytes[p % 6];
                }
            }
            content[l] = new byte[at];
            for (int i = 0; i < at; i++) {
                content[l][i] = (byte) random.nextInt(255); // never 255: no bad scale
            }
            Files.write(root.resolve("shard-" + l), content[l]);
        }
        return new FakeShards(g, root, bytes, offsets, content);
    }

    /** The bytes that a part must have. */
    byte[] expected(int layer, int expert, ExpertTensor part) {
        int from = (int) offset(layer, expert, part);
        return java.util.Arrays.copyOfRange(content[layer - geometry.firstLayer()], from, from + bytes[part.ordinal()]);
    }

    Path root() {
        return root;
    }

    @Override
    public ExpertGeometry geometry() {
        return geometry;
    }

    @Override
    public List<String> files() {
        List<String> names = new ArrayList<>();
        for (int l = 0; l < geometry.layers(); l++) {
            names.add("shard-" + l);
        }
        return names;
    }

    @Override
    public int file(int layer, int expert, ExpertTensor part) {
        return layer - geometry.firstLayer();
    }

    @Override
    public long offset(int layer, int expert, ExpertTensor part) {
        return offsets[layer - geometry.firstLayer()][expert * 6 + part.ordinal()];
    }

    @Override
    public long bytes(int layer, int expert, ExpertTensor part) {
        return bytes[part.ordinal()];
    }
}
