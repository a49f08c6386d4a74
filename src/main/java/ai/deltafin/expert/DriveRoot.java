package ai.deltafin.expert;

import java.nio.file.Path;

/**
 * A directory on a drive that holds shards or packs.
 *
 * @param path the directory
 * @param share bytes a second to begin with, or any weight among the drives; 0 = equal
 */
public record DriveRoot(Path path, double share) {}
