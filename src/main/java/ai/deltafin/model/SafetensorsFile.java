package ai.deltafin.model;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.function.Consumer;

/**
 * A safetensors file whose header was read and checked whole: eight bytes of header length (little endian), a JSON header,
 * then the tensors' bytes, which must cover the rest of the file without gap or overlap.
 *
 * @param path where it lies
 * @param bytes its size
 * @param dataOffset where the tensors' bytes begin
 * @param tensors how many there are
 */
public record SafetensorsFile(Path path, long bytes, long dataOffset, int tensors) {

    /** Reads the header only and hands over each tensor in header order; throws {@link ModelException}. */
    public static SafetensorsFile read(Path path, Consumer<TensorInfo> tensors) {
        try (FileChannel channel = ModelFiles.open(path)) {
            return new SafetensorsHeader(path, channel).read(tensors);
        } catch (IOException e) {
            throw ModelFiles.unreadable(path, e);
        }
    }

    /** Bytes of all tensors. */
    public long dataBytes() {
        return bytes - dataOffset;
    }

    /** Maps the whole file for reading, for as long as the arena lives; nothing is read yet. */
    MemorySegment map(Arena arena) {
        try (FileChannel channel = ModelFiles.open(path)) {
            if (channel.size() != bytes) {
                throw ModelException.mismatch(
                        path,
                        "size",
                        bytes + " bytes, as when its header was read",
                        channel.size(),
                        "leave the model directory alone while it is in use");
            }
            return channel.map(MapMode.READ_ONLY, 0, bytes, arena);
        } catch (IOException e) {
            throw ModelFiles.unreadable(path, e);
        }
    }
}
