package ai.deltafin.cli;

/** What the process tells its caller; docs/cli.md lists them. */
public final class ExitCode {

    /** Done. */
    public static final int OK = 0;

    /** The command began and failed. */
    public static final int FAILURE = 1;

    /** A wrong option, argument or setting: nothing was begun. */
    public static final int USAGE = 2;

    /** The model directory was refused: what is wrong with it stands on stderr. */
    public static final int MODEL_REFUSED = 3;

    /** Ctrl-C: what had been made was printed. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}
}
