package ai.deltafin.model;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens the files of a model directory. Links are followed (hub caches are made of them); only regular files are opened. */
final class ModelFiles {
    private ModelFiles() {}

    /** Opens a regular file for reading. A pipe or device is refused before it could block. */
    static FileChannel open(Path file) {
        try {
            // Reading the attributes first tells a missing file, a loop of links and a closed door apart.
            if (!Files.readAttributes(file, java.nio.file.attribute.BasicFileAttributes.class)
                    .isRegularFile()) {
                throw new ModelException(file + ": expected a regular file, found "
                        + (Files.isDirectory(file) ? "a directory" : "a device or pipe")
                        + "; check the model directory");
            }
            return FileChannel.open(file, StandardOpenOption.READ);
        } catch (IOException e) {
            throw unreadable(file, e);
        }
    }

    /** The exception for a file that the system would not read. */
    static ModelException unreadable(Path file, IOException e) {
        String why = switch (e) {
            case NoSuchFileException missing
            when Files.isSymbolicLink(file) -> "a symbolic link whose target does not exist; download the file again";
            case NoSuchFileException missing -> "no such file; check --model, or download the file again";
            case AccessDeniedException denied -> "permission denied; make the file readable for this user";
            default -> "cannot be read (" + reason(e) + "); check the file, its links and its drive";
        };
        return new ModelException(file + ": " + why, e);
    }

    private static String reason(IOException e) {
        return e instanceof java.nio.file.FileSystemException system && system.getReason() != null
                ? system.getReason()
                : e.toString();
    }

    /** The bytes of a channel from a position on, at most {@code length}; the channel stays open. */
    static InputStream stream(FileChannel channel, long position, long length) throws IOException {
        channel.position(position);
        return new Bounded(Channels.newInputStream(channel), length);
    }

    /** Whether something of this name is there, even if it is a broken link. */
    static boolean exists(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }

    /** Ends after a given number of bytes; closing it leaves the source open. */
    private static final class Bounded extends InputStream {
        private final InputStream in;
        private long left;

        Bounded(InputStream in, long left) {
            this.in = in;
            this.left = left;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int at, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int n = in.read(into, at, (int) Math.min(length, left));
            left -= Math.max(n, 0);
            return n;
        }
    }
}
