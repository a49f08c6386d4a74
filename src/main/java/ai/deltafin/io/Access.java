package ai.deltafin.io;

import java.nio.file.Path;

/**
 * How files of a drive can be read.
 *
 * @param direct past the page cache
 * @param alignment what offsets, lengths and memory addresses of direct reads are multiples of, at least 4,096
 * @param reason why it is so, for the log
 */
public record Access(boolean direct, int alignment, String reason) {
    /** Serves 512- and 4,096-byte sectors alike (expert-streaming.md 3.1). */
    public static final int MIN_ALIGNMENT = 4096;

    private static final int MAX_ALIGNMENT = 65536;

    /** Buffered access, for drives that cannot do better or are told so. */
    public static Access buffered(String reason) {
        return new Access(false, MIN_ALIGNMENT, reason);
    }

    /**
     * Finds out by one real read: what a system call promises and what a drive does are two things.
     *
     * @throws StorageException if the file cannot be read at all
     */
    public static Access probe(Path file) {
        int fd = IoLibrary.open(file.toString(), true);
        if (fd < 0) {
            if (fd == -Errno.EINVAL) {
                return buffered("its filesystem refuses direct reads");
            }
            throw new StorageException("cannot open " + file, -fd);
        }
        try (AlignedMemory block = AlignedMemory.map(MAX_ALIGNMENT)) {
            int wanted = Math.max(MIN_ALIGNMENT, IoLibrary.offsetAlignment(fd));
            for (int alignment = wanted; alignment <= MAX_ALIGNMENT; alignment *= 4) {
                long got = IoLibrary.read(fd, block.address(), alignment, 0);
                if (got >= 0) {
                    return new Access(true, alignment, "direct reads work at " + alignment + " bytes");
                }
                if (got != -Errno.EINVAL) {
                    throw new StorageException("cannot read " + file, (int) -got);
                }
            }
            return buffered("direct reads were refused up to an alignment of " + MAX_ALIGNMENT);
        } finally {
            IoLibrary.close(fd);
        }
    }
}
