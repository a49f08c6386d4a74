package ai.deltafin.model;

import java.nio.file.Path;
import java.util.List;

/**
 * One tensor of a safetensors file.
 *
 * @param name as the file spells it, prefix included
 * @param dtype type of an element
 * @param shape sizes, outermost first
 * @param file the file that holds it
 * @param offset byte offset of its first element from the start of the file
 * @param bytes its length in bytes: the product of the shape times the element size
 */
public record TensorInfo(String name, DType dtype, List<Long> shape, Path file, long offset, long bytes) {
    public TensorInfo {
        shape = List.copyOf(shape);
    }

    /** Number of elements. */
    public long elements() {
        return bytes * 8 / dtype.bits();
    }
}
