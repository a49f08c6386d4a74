package ai.deltafin.expert;

import java.nio.file.Path;

/** An expert could not be read from any drive that holds it. State stays at the last committed token. */
public final class ExpertReadException extends RuntimeException {
    private final int layer;
    private final int expert;
    private final Path file;

    ExpertReadException(int layer, int expert, Path file, String problem) {
        super("cannot read expert " + expert + " of layer " + layer + " from " + file + ": " + problem);
        this.layer = layer;
        this.expert = expert;
        this.file = file;
    }

    public int layer() {
        return layer;
    }

    public int expert() {
        return expert;
    }

    /** The file of the last attempt. */
    public Path file() {
        return file;
    }
}
