package ai.deltafin.model;

import java.nio.file.Path;

/**
 * One unbroken run of an expert's bytes in a file.
 *
 * @param file the shard
 * @param offset first byte from the start of the file
 * @param bytes length
 */
public record ExpertRange(Path file, long offset, long bytes) {}
