package ai.deltafin.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** A file open for reading on one drive. Any thread may read it; it stays open until its owner closes it. */
public final class DriveFile implements AutoCloseable {
    /** What tells that a file is still the one that was opened. */
    public record Identity(long size, long modified, Object key) {
        /** Looks at the file under that name now. */
        public static Identity of(Path path) throws IOException {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class);
            Object key = attributes.fileKey();
            return new Identity(
                    attributes.size(), attributes.lastModifiedTime().toMillis(), key == null ? "none" : key);
        }
    }

    private final Path path;
    private final int drive;
    private final Access access;
    private final Identity identity;
    private volatile int fd;

    private DriveFile(Path path, int drive, Access access, Identity identity, int fd) {
        this.path = path;
        this.drive = drive;
        this.access = access;
        this.identity = identity;
        this.fd = fd;
    }

    /**
     * Opens a file.
     *
     * @param drive number of the drive that holds it, for queues and reports
     * @throws StorageException if it cannot be opened
     */
    public static DriveFile open(Path path, int drive, Access access) {
        Identity identity;
        try {
            identity = Identity.of(path);
        } catch (IOException e) {
            throw new StorageException("cannot find " + path, 0);
        }
        return new DriveFile(path, drive, access, identity, openNow(path, access));
    }

    private static int openNow(Path path, Access access) {
        int fd = IoLibrary.open(path.toString(), access.direct());
        if (fd < 0) {
            throw new StorageException("cannot open " + path, -fd);
        }
        return fd;
    }

    public Path path() {
        return path;
    }

    public int drive() {
        return drive;
    }

    public Access access() {
        return access;
    }

    /** Bytes in the file when it was opened. */
    public long size() {
        return identity.size();
    }

    int fd() {
        return fd;
    }

    /** Whether the name still leads to the same, unaltered file. */
    public boolean unchanged() {
        try {
            return Identity.of(path).equals(identity);
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Opens the same name again after its drive went away. Reads under way keep the old descriptor.
     *
     * @throws StorageException if it cannot be opened or is another file now
     */
    public void reopen() {
        if (!unchanged()) {
            throw new StorageException(path + " is gone or was altered since it was opened", 0);
        }
        int old = fd;
        fd = openNow(path, access);
        IoLibrary.close(old);
    }

    /** Reads now, in this thread: bytes read (fewer only at the end of the file), or -errno. */
    public long read(long address, long length, long offset) {
        long done = 0;
        while (done < length) {
            long n = IoLibrary.read(fd, address + done, Math.min(length - done, 1L << 30), offset + done);
            if (n < 0) {
                return n;
            }
            if (n == 0) {
                break;
            }
            done += n;
        }
        return done;
    }

    /** Advises the system to forget this file's cached pages in a range. */
    public void dropCache(long offset, long length) {
        IoLibrary.dropCache(fd, offset, length);
    }

    @Override
    public void close() {
        int old = fd;
        if (old >= 0) {
            fd = -1;
            IoLibrary.close(old);
        }
    }
}
