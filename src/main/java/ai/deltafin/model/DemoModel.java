package ai.deltafin.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The demo checkpoint that comes with the program: used in place where the classes lie in a directory, else copied out of
 * the jar once, into the user's cache, since shards are mapped from files. The copy appears under its final name only when
 * it is whole and every checksum was right, so any number of processes may race for it.
 */
public final class DemoModel {
    private static final String MANIFEST = "demo/k3-demo.sha256";
    private static final String FOLDER = "demo/k3-demo/";
    private static final int NAME_DIGITS = 16;

    private final ClassLoader resources;

    DemoModel(ClassLoader resources) {
        this.resources = resources;
    }

    /** A directory that {@link Checkpoint#open} takes. */
    public static Path directory() {
        var demo = new DemoModel(DemoModel.class.getClassLoader());
        Path inPlace = demo.inPlace();
        return inPlace != null ? inPlace : demo.extracted(cache(System.getenv(), System.getProperty("user.home")));
    }

    /** Where the files lie if they are files; null if they are inside a jar. */
    @Nullable
    Path inPlace() {
        URL config = resources.getResource(FOLDER + "config.json");
        if (config == null || !config.getProtocol().equals("file")) {
            return null;
        }
        return Path.of(URI.create(config.toString())).getParent();
    }

    /** The user's cache directory for this program; a relative XDG_CACHE_HOME is ignored, as its specification says. */
    static Path cache(Map<String, String> environment, String home) {
        String configured = environment.getOrDefault("XDG_CACHE_HOME", "");
        boolean usable = !configured.isEmpty() && Path.of(configured).isAbsolute();
        return (usable ? Path.of(configured) : Path.of(home, ".cache")).resolve("deltafin");
    }

    /** The copy in a cache directory, made if it is not there; its name tells its content. */
    Path extracted(Path cache) {
        try {
            byte[] manifest = read(MANIFEST);
            String digest = HexFormat.of().formatHex(sha256().digest(manifest));
            Path target = cache.resolve("demo-" + digest.substring(0, NAME_DIGITS));
            return Files.isDirectory(target) ? target : extract(entries(manifest), cache, target);
        } catch (IOException e) {
            throw new ModelException(
                    cache + ": the demo model cannot be copied here (" + e
                            + "); free space, set XDG_CACHE_HOME to a directory you can write, or give --model",
                    e);
        }
    }

    private Path extract(Map<String, String> entries, Path cache, Path target) throws IOException {
        Files.createDirectories(cache);
        Path copy = Files.createTempDirectory(cache, target.getFileName() + ".");
        try {
            for (Map.Entry<String, String> entry : entries.entrySet()) {
                copy(entry.getKey(), entry.getValue(), copy.resolve(entry.getKey()));
            }
            Files.move(copy, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            // Another process was first: its copy passed the same checks.
            if (!Files.isDirectory(target)) {
                throw e;
            }
        } finally {
            delete(copy);
        }
        return target;
    }

    private void copy(String name, String expected, Path to) throws IOException {
        MessageDigest digest = sha256();
        try (InputStream in = open(FOLDER + name);
                OutputStream out = new DigestOutputStream(Files.newOutputStream(to), digest)) {
            in.transferTo(out);
        }
        String found = HexFormat.of().formatHex(digest.digest());
        if (!found.equals(expected)) {
            throw ModelException.mismatch(
                    to, "SHA-256 of the embedded file", expected, found, "the program is damaged: install it again");
        }
    }

    private static void delete(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(directory);
    }

    /** Checksums by file name. */
    private static Map<String, String> entries(byte[] manifest) {
        Map<String, String> entries = new TreeMap<>();
        new String(manifest, StandardCharsets.UTF_8).lines().forEach(line -> {
            int space = line.indexOf(' ');
            entries.put(line.substring(space).trim(), line.substring(0, space));
        });
        return entries;
    }

    private byte[] read(String name) throws IOException {
        try (InputStream in = open(name)) {
            return in.readAllBytes();
        }
    }

    private InputStream open(String name) {
        InputStream in = resources.getResourceAsStream(name);
        if (in == null) {
            throw new ModelException(name + ": not inside this program; install it again, or give --model");
        }
        return in;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
