package ai.deltafin.expert;

import ai.deltafin.model.ExpertTensor;
import java.util.List;

/** Where the stored parts of every expert lie in the released shards, as their headers say. */
public interface ExpertRanges {
    /** The layers and experts spoken of. */
    ExpertGeometry geometry();

    /** Names of the shard files, relative to a root. */
    List<String> files();

    /** Number, in {@link #files}, of the file that holds a part. */
    int file(int layer, int expert, ExpertTensor part);

    /** First byte of a part in its file. */
    long offset(int layer, int expert, ExpertTensor part);

    /** Bytes of a part; 0 if these experts have no such part. */
    long bytes(int layer, int expert, ExpertTensor part);
}
