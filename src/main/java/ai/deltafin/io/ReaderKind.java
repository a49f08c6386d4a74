package ai.deltafin.io;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which reader the user asks for. */
public enum ReaderKind {
    AUTO,
    IO_URING,
    PREAD;

    /**
     * The reader that will be used and why (expert-streaming.md 3.5): io_uring where every drive can be read directly,
     * else threads with pread, since buffered io_uring is slower than they are.
     *
     * @param ioUring whether the choice is io_uring
     * @param reason for the log and the doctor
     */
    public record Choice(boolean ioUring, String reason) {
        /** Opens one reader of that kind. */
        public DriveReader open(int capacity) {
            return ioUring ? NativeReader.ioUring(capacity) : NativeReader.pread(capacity, Math.min(capacity, 64));
        }
    }

    /** Written as on the command line: {@code auto}, {@code io_uring}, {@code pread}. */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /**
     * Chooses, trying io_uring by opening one.
     *
     * @throws StorageException if io_uring was asked for and is not to be had
     */
    public Choice choose(List<Access> drives) {
        if (this == PREAD) {
            return new Choice(false, "asked for");
        }
        @Nullable StorageException missing = tryRing();
        if (this == IO_URING) {
            if (missing != null) {
                throw missing;
            }
            return new Choice(true, "asked for");
        }
        if (missing != null) {
            return new Choice(false, String.valueOf(missing.getMessage()));
        }
        for (Access access : drives) {
            if (!access.direct()) {
                return new Choice(false, access.reason());
            }
        }
        return new Choice(true, "every drive takes direct reads");
    }

    private static @Nullable StorageException tryRing() {
        try {
            NativeReader.ioUring(2).close(0);
            return null;
        } catch (StorageException e) {
            String advice = e.errno() == Errno.EPERM
                    ? "io_uring is not allowed here (kernel.io_uring_disabled, or a container's seccomp profile); allow it or take --reader pread"
                    : "io_uring is not usable here (it needs Linux 5.11)";
            return new StorageException(advice, e.errno());
        }
    }
}
