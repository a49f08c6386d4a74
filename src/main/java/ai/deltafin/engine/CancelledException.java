package ai.deltafin.engine;

/** A pass was stopped between layers at its observer's wish; the session stands where it stood before the pass. */
public final class CancelledException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Names the layer the pass stopped before. */
    public CancelledException(int layer) {
        super("pass cancelled before layer " + layer);
    }
}
