package ai.deltafin.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds and loads the native library {@code libdeltafin}: from the directory named by the system property
 * {@value #DIRECTORY_PROPERTY}, else from the class path (copied to a private temporary file when it lies in a jar).
 * Never from a model directory.
 */
public final class NativeLibrary {
    /** System property that names a directory holding the library. */
    public static final String DIRECTORY_PROPERTY = "deltafin.native.dir";

    private static final class Holder {
        static final SymbolLookup LOOKUP = load();
    }

    private NativeLibrary() {}

    /**
     * The symbols of the CPU library, loaded once for the life of the process.
     *
     * @throws KernelException if no library fits this platform or it cannot be loaded
     */
    public static SymbolLookup lookup() {
        return Holder.LOOKUP;
    }

    /** The platform directory a library is stored under, for example {@code linux-x86_64}. */
    public static String platform() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "macos" : "linux";
        String arch = System.getProperty("os.arch");
        return os + "-"
                + switch (arch) {
                    case "amd64", "x86_64" -> "x86_64";
                    case "aarch64", "arm64" -> "aarch64";
                    default -> arch;
                };
    }

    private static SymbolLookup load() {
        String file = platform().startsWith("macos") ? "libdeltafin.dylib" : "libdeltafin.so";
        @Nullable String directory = System.getProperty(DIRECTORY_PROPERTY);
        if (directory != null) {
            return open(Path.of(directory).resolve(file));
        }
        String resource = "native/" + platform() + "/" + file;
        var url = NativeLibrary.class.getClassLoader().getResource(resource);
        if (url == null) {
            throw new KernelException("no native library for " + platform()
                    + " in this build (" + resource + "): build it with ./mvnw package, or name its directory with -D"
                    + DIRECTORY_PROPERTY);
        }
        if (url.getProtocol().equals("file")) {
            return open(Path.of(java.net.URI.create(url.toString())));
        }
        return openCopy(resource, file);
    }

    /** The mapping outlives the file, so the copy is deleted as soon as it is loaded. */
    private static SymbolLookup openCopy(String resource, String file) {
        try {
            Path directory = Files.createTempDirectory("deltafin-native");
            Path copy = directory.resolve(file);
            try (InputStream in = NativeLibrary.class.getClassLoader().getResourceAsStream(resource)) {
                if (in == null) {
                    throw new KernelException("native library " + resource + " vanished from the class path");
                }
                Files.copy(in, copy);
                return open(copy);
            } finally {
                Files.deleteIfExists(copy);
                Files.deleteIfExists(directory);
            }
        } catch (IOException e) {
            throw new KernelException("cannot copy the native library out of the jar (" + e.getMessage()
                    + "): set java.io.tmpdir to a writable directory, or name the library's directory with -D"
                    + DIRECTORY_PROPERTY);
        }
    }

    private static SymbolLookup open(Path library) {
        try {
            return SymbolLookup.libraryLookup(library, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new KernelException("cannot load the native library " + library.getFileName() + " (" + e.getMessage()
                    + "): is its directory mounted noexec? Name another one with -D" + DIRECTORY_PROPERTY);
        }
    }
}
