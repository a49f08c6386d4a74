package ai.deltafin.chat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads a small file whole, and never more than its bound, whatever the file claims to be. */
final class BoundedFile {

    private BoundedFile() {}

    /**
     * The file's bytes.
     *
     * @throws TokenizerException if it is missing, no regular file, unreadable, or longer than {@code maxBytes}
     */
    static byte[] read(Path file, int maxBytes) {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new TokenizerException(file + ": not a regular file");
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(maxBytes + 1);
            if (bytes.length > maxBytes) {
                throw new TokenizerException(
                        file + ": more than " + maxBytes + " bytes, too large for a tokenizer file");
            }
            return bytes;
        } catch (NoSuchFileException e) {
            throw new TokenizerException(
                    file + ": no such file; a model directory holds tiktoken.model and tokenizer_config.json", e);
        } catch (IOException e) {
            throw new TokenizerException(file + ": cannot be read: " + e, e);
        }
    }
}
