package ai.deltafin.io;

/** Error numbers of the system that readers meet. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int EIO = 5;
    public static final int ENOMEM = 12;
    public static final int ENODEV = 19;
    public static final int EINVAL = 22;
    private static final boolean MAC = System.getProperty("os.name").contains("Mac");

    private Errno() {}

    /** Name and meaning of an error number, for people. */
    public static String text(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM (not permitted)";
            case 2 -> "ENOENT (no such file)";
            case EIO -> "EIO (the drive reports an input/output error)";
            case 6 -> "ENXIO (the device has gone)";
            case 9 -> "EBADF (the file is not open)";
            case ENOMEM -> "ENOMEM (not enough memory, or the memlock limit)";
            case 13 -> "EACCES (permission denied)";
            case ENODEV -> "ENODEV (the device has gone)";
            case EINVAL -> "EINVAL (refused, perhaps for its alignment)";
            case 23, 24 -> "too many open files";
            case 28 -> "ENOSPC (no space left)";
            default -> errno == (MAC ? 78 : 38) ? "ENOSYS (this system has no such call)" : "errno " + errno;
        };
    }
}
