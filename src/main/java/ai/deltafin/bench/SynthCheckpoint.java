package ai.deltafin.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes a checkpoint in the released format with random weights of realistic distribution: the same bytes for the same
 * shape and seed on every machine. A run that was stopped goes on where it was; finished shards are kept.
 */
public final class SynthCheckpoint {
    private static final int BLOCK = 1 << 20;
    private static final int REDO_BLOCKS = 64; // written out of order at most, so not trusted after a stop
    private static final String RECORD = "synth.json";
    private static final JsonMapper JSON = JsonMapper.shared();

    private final SynthShape shape;
    private final long seed;
    private final Path directory;
    private final LongConsumer written;
    private final SynthValues values = new SynthValues();
    private final int shards;

    /**
     * A checkpoint to be written.
     *
     * @param written told how many bytes were just written; from several threads
     */
    public SynthCheckpoint(SynthShape shape, long seed, Path directory, LongConsumer written) {
        this.shape = shape;
        this.seed = seed;
        this.directory = directory;
        this.written = written;
        this.shards = shape.layers() + 1;
    }

    /** A run of values of one tensor within its shard. */
    private record Block(SynthTensor tensor, long at, long first, int length, long seed) {}

    /** Bytes of all shards, headers included. */
    public long bytes() {
        long sum = 0;
        for (int i = 0; i < shards; i++) {
            List<SynthTensor> tensors = SynthTensors.shard(shape, seed, i);
            sum += header(tensors).length;
            for (SynthTensor tensor : tensors) {
                sum += tensor.bytes();
            }
        }
        return sum;
    }

    /**
     * Writes what is missing.
     *
     * @return bytes written by this call
     * @throws IOException if the disk is full or fails, or the directory holds another checkpoint
     */
    public long write(int threads) throws IOException {
        Files.createDirectories(directory);
        checkRecord();
        Map<String, String> index = new LinkedHashMap<>();
        long total = 0;
        long now = 0;
        for (int i = 0; i < shards; i++) {
            List<SynthTensor> tensors = SynthTensors.shard(shape, seed, i);
            for (SynthTensor tensor : tensors) {
                index.put(tensor.name(), name(i));
                total += tensor.bytes();
                values.prepare(tensor.values());
            }
            now += writeShard(i, tensors, threads);
        }
        Map<String, Object> weights = new LinkedHashMap<>();
        weights.put("metadata", Map.of("total_size", total));
        weights.put("weight_map", index);
        writeJson("model.safetensors.index.json", weights);
        writeJson("generation_config.json", Map.of("eos_token_id", shape.vocab() - 3));
        writeJson("config.json", SynthConfig.of(shape)); // last: a directory without it is not a model yet
        return now;
    }

    private void checkRecord() throws IOException {
        Path record = directory.resolve(RECORD);
        String mine = JSON.writeValueAsString(Map.of("shape", shape.toString(), "seed", seed));
        if (Files.exists(record)) {
            if (!JSON.readTree(Files.readString(record)).equals(JSON.readTree(mine))) {
                throw new IOException(
                        directory + " holds a synthetic checkpoint of another shape or seed: name another --out");
            }
        } else {
            try (var files = Files.list(directory)) {
                if (files.findAny().isPresent()) {
                    throw new IOException(
                            directory + " is not empty and holds no synthetic checkpoint: name another --out");
                }
            }
            Files.writeString(record, mine);
        }
    }

    private void writeJson(String name, Object value) throws IOException {
        Path part = directory.resolve(name + ".part");
        Files.writeString(part, JSON.writeValueAsString(value));
        Files.move(part, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    private String name(int shard) {
        return "model-%05d-of-%06d.safetensors".formatted(shard + 1, shards);
    }

    private static byte[] header(List<SynthTensor> tensors) {
        StringBuilder json = new StringBuilder("{\"__metadata__\":{\"format\":\"pt\"}");
        long at = 0;
        for (SynthTensor tensor : tensors) {
            json.append(",\"").append(tensor.name()).append("\":{\"dtype\":\"").append(tensor.dtype());
            json.append("\",\"shape\":").append(tensor.shape().toString().replace(" ", ""));
            json.append(",\"data_offsets\":[")
                    .append(at)
                    .append(',')
                    .append(at + tensor.bytes())
                    .append("]}");
            at += tensor.bytes();
        }
        json.append('}');
        while (json.length() % 8 != 0) {
            json.append(' ');
        }
        ByteBuffer out = ByteBuffer.allocate(8 + json.length()).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(json.length()).put(json.toString().getBytes(StandardCharsets.US_ASCII));
        return out.array();
    }

    private List<Block> blocks(int shard, List<SynthTensor> tensors, long at) {
        List<Block> blocks = new ArrayList<>();
        long from = at;
        for (int t = 0; t < tensors.size(); t++) {
            SynthTensor tensor = tensors.get(t);
            for (long first = 0; first < tensor.bytes(); first += BLOCK) {
                int length = (int) Math.min(BLOCK, tensor.bytes() - first);
                long blockSeed = new java.util.SplittableRandom(seed ^ ((long) shard << 48) ^ ((long) t << 16) ^ first)
                        .nextLong();
                blocks.add(new Block(tensor, from + first, first, length, blockSeed));
            }
            from += tensor.bytes();
        }
        return blocks;
    }

    private long writeShard(int shard, List<SynthTensor> tensors, int threads) throws IOException {
        byte[] header = header(tensors);
        List<Block> blocks = blocks(shard, tensors, header.length);
        Block last = blocks.getLast();
        long size = last.at() + last.length();
        Path file = directory.resolve(name(shard));
        if (Files.exists(file) && Files.size(file) == size) {
            written.accept(size);
            return 0;
        }
        Path part = directory.resolve(name(shard) + ".part");
        try (FileChannel channel = FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            long have = channel.size() - (long) REDO_BLOCKS * BLOCK;
            int start = 0;
            while (start < blocks.size() - 1 && blocks.get(start + 1).at() <= have) {
                start++;
            }
            long kept = start == 0 ? 0 : blocks.get(start).at();
            written.accept(kept);
            if (start == 0) {
                channel.write(ByteBuffer.wrap(header), 0);
                written.accept(header.length);
            }
            run(channel, blocks, start, threads);
            channel.truncate(size);
            channel.force(true);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            return size - kept;
        }
    }

    private void run(FileChannel channel, List<Block> blocks, int start, int threads) throws IOException {
        AtomicInteger next = new AtomicInteger(start);
        List<Future<?>> workers = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int i = 0; i < threads; i++) {
                workers.add(pool.submit(() -> {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
                    for (int b = next.getAndIncrement(); b < blocks.size(); b = next.getAndIncrement()) {
                        writeBlock(channel, blocks.get(b), buffer);
                    }
                    return null;
                }));
            }
            for (Future<?> worker : workers) {
                worker.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted: the same command goes on from here", e);
        }
    }

    private void writeBlock(FileChannel channel, Block block, ByteBuffer buffer) throws IOException {
        buffer.clear().limit(block.length());
        values.fill(block.tensor().values(), buffer, block.first(), block.seed());
        buffer.flip();
        long at = block.at();
        while (buffer.hasRemaining()) {
            at += channel.write(buffer, at);
        }
        written.accept(block.length());
    }
}
