package ai.deltafin.model;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads and checks the header of one safetensors file. It is streamed: memory grows by two longs a tensor, whatever the
 * header says.
 */
final class SafetensorsHeader {
    private static final int LENGTH_BYTES = 8;

    /** The bound of the format's reference reader; the released shards have headers below 2 MB. */
    static final long MAX_HEADER_BYTES = 100_000_000;

    private static final int MAX_RANK = 16;
    private static final String AGAIN = "the file is damaged or incomplete: download it again";

    private final Path path;
    private final FileChannel channel;
    private final long size;
    private final long headerBytes;

    SafetensorsHeader(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        this.size = channel.size();
        this.headerBytes = headerBytes();
    }

    private long headerBytes() throws IOException {
        if (size < LENGTH_BYTES) {
            throw ModelException.mismatch(path, "size", "at least 8 bytes", size, AGAIN);
        }
        ByteBuffer length = ByteBuffer.allocate(LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (length.hasRemaining()) {
            if (channel.read(length, length.position()) < 0) {
                throw ModelException.mismatch(path, "size", size, length.position(), AGAIN);
            }
        }
        long claimed = length.getLong(0);
        if (claimed < 2 || claimed > size - LENGTH_BYTES) {
            throw ModelException.mismatch(
                    path,
                    "header length",
                    "2 to " + (size - LENGTH_BYTES) + " bytes, the rest of the file",
                    Long.toUnsignedString(claimed),
                    AGAIN);
        }
        if (claimed > MAX_HEADER_BYTES) {
            throw ModelException.mismatch(
                    path,
                    "header length",
                    "at most " + MAX_HEADER_BYTES + " bytes",
                    claimed,
                    "this is not a safetensors file of a model");
        }
        return claimed;
    }

    SafetensorsFile read(Consumer<TensorInfo> tensors) throws IOException {
        var ranges = new Ranges();
        scan(tensor -> {
            ranges.add(tensor);
            tensors.accept(tensor);
        });
        ranges.check();
        return new SafetensorsFile(path, size, dataOffset(), ranges.count);
    }

    private long dataOffset() {
        return LENGTH_BYTES + headerBytes;
    }

    private void scan(Consumer<TensorInfo> tensors) throws IOException {
        try (JsonParser json = ModelJson.parser(ModelFiles.stream(channel, LENGTH_BYTES, headerBytes))) {
            expect(json.nextToken(), JsonToken.START_OBJECT, "header", "a JSON object");
            boolean metadata = false;
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.currentName();
                if (!name.equals("__metadata__")) {
                    tensors.accept(tensor(json, name));
                } else if (metadata) {
                    throw new ModelException(path + ": __metadata__ occurs twice; " + AGAIN);
                } else {
                    metadata = true;
                    metadata(json);
                }
            }
            if (json.nextToken() != null) {
                throw new ModelException(path + ": header: something follows the JSON object; " + AGAIN);
            }
        } catch (JacksonException e) {
            throw ModelJson.broken(path, "header: ", e);
        }
    }

    private void metadata(JsonParser json) {
        expect(json.nextToken(), JsonToken.START_OBJECT, "__metadata__", "an object of texts");
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            expect(json.nextToken(), JsonToken.VALUE_STRING, "__metadata__", "an object of texts");
        }
    }

    private TensorInfo tensor(JsonParser json, String name) {
        expect(json.nextToken(), JsonToken.START_OBJECT, name, "an object");
        DType dtype = null;
        List<Long> shape = null;
        List<Long> offsets = null;
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String field = json.currentName();
            switch (field) {
                case "dtype" -> dtype = once(dtype, dtype(json, name), name, field);
                case "shape" -> shape = once(shape, numbers(json, name, field, MAX_RANK), name, field);
                case "data_offsets" -> offsets = once(offsets, numbers(json, name, field, 2), name, field);
                default ->
                    throw ModelException.mismatch(path, name, "the fields dtype, shape, data_offsets", field, AGAIN);
            }
        }
        if (dtype == null || shape == null || offsets == null || offsets.size() != 2) {
            throw ModelException.mismatch(
                    path,
                    name,
                    "dtype, shape and two data_offsets",
                    "dtype " + dtype + ", shape " + shape + ", data_offsets " + offsets,
                    AGAIN);
        }
        return checked(name, dtype, shape, offsets.getFirst(), offsets.getLast());
    }

    private <T> T once(@Nullable T before, T now, String tensor, String field) {
        if (before != null) {
            throw new ModelException(path + ": " + tensor + ": " + field + " occurs twice; " + AGAIN);
        }
        return now;
    }

    private DType dtype(JsonParser json, String tensor) {
        expect(json.nextToken(), JsonToken.VALUE_STRING, tensor, "dtype as text");
        String found = json.getString();
        return DType.named(found)
                .orElseThrow(() -> ModelException.mismatch(
                        path,
                        tensor,
                        "dtype one of " + Arrays.toString(DType.values()),
                        found,
                        "use the released weights"));
    }

    private List<Long> numbers(JsonParser json, String tensor, String field, int most) {
        String wanted = field + " as at most " + most + " whole numbers that are not negative";
        expect(json.nextToken(), JsonToken.START_ARRAY, tensor, wanted);
        List<Long> numbers = new ArrayList<>(most);
        while (json.nextToken() != JsonToken.END_ARRAY) {
            expect(json.currentToken(), JsonToken.VALUE_NUMBER_INT, tensor, wanted);
            boolean fits = json.getNumberType() != JsonParser.NumberType.BIG_INTEGER;
            if (!fits || json.getLongValue() < 0 || numbers.size() == most) {
                throw ModelException.mismatch(path, tensor, wanted, numbers + " and " + json.getString(), AGAIN);
            }
            numbers.add(json.getLongValue());
        }
        return numbers;
    }

    private void expect(@Nullable JsonToken found, JsonToken wanted, String what, String text) {
        if (found != wanted) {
            throw ModelException.mismatch(path, what, text, found == null ? "the end" : found, AGAIN);
        }
    }

    private TensorInfo checked(String name, DType dtype, List<Long> shape, long begin, long end) {
        if (begin > end || end > size - dataOffset()) {
            throw ModelException.mismatch(
                    path,
                    name,
                    "data_offsets ascending within " + (size - dataOffset()) + " bytes of data",
                    "[" + begin + ", " + end + "]",
                    AGAIN);
        }
        long bits = dtype.bits();
        try {
            for (long side : shape) {
                bits = Math.multiplyExact(bits, side);
            }
        } catch (ArithmeticException e) {
            throw new ModelException(path + ": " + name + ": shape " + shape + " overflows; " + AGAIN, e);
        }
        if (bits % 8 != 0 || bits / 8 != end - begin) {
            throw ModelException.mismatch(
                    path, name, bits / 8 + " bytes for " + dtype + " " + shape, end - begin, AGAIN);
        }
        return new TensorInfo(name, dtype, shape, path, dataOffset() + begin, end - begin);
    }

    /**
     * Begins and ends of all tensors. Sorted apart from each other, they must chain from 0 to the end of the data: at every
     * byte the number of begins passed less the number of ends passed is then exactly one, which is to say no gap and no
     * overlap.
     */
    private final class Ranges {
        private long[] begins = new long[64];
        private long[] ends = new long[64];
        private int count;

        void add(TensorInfo tensor) {
            if (count == begins.length) {
                begins = Arrays.copyOf(begins, 2 * count);
                ends = Arrays.copyOf(ends, 2 * count);
            }
            begins[count] = tensor.offset();
            ends[count++] = tensor.offset() + tensor.bytes();
        }

        void check() throws IOException {
            Arrays.sort(begins, 0, count);
            Arrays.sort(ends, 0, count);
            long at = dataOffset();
            for (int i = 0; i < count; i++) {
                if (begins[i] < at) {
                    throw overlap(begins[i]);
                }
                if (begins[i] > at) {
                    throw gap(at, begins[i]);
                }
                at = ends[i];
            }
            if (at != size) {
                throw gap(at, size);
            }
        }

        private ModelException gap(long from, long to) {
            return ModelException.mismatch(
                    path,
                    "data",
                    "every byte in one tensor",
                    "bytes " + from + " to " + to + " of the file in none",
                    AGAIN);
        }

        private ModelException overlap(long at) throws IOException {
            List<String> names = new ArrayList<>();
            scan(tensor -> {
                if (tensor.offset() <= at && at < tensor.offset() + tensor.bytes() && names.size() < 2) {
                    names.add(tensor.name());
                }
            });
            return ModelException.mismatch(
                    path,
                    "data",
                    "every byte in one tensor",
                    "byte " + at + " of the file in " + String.join(" and ", names),
                    AGAIN);
        }
    }
}
