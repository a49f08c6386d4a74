package ai.deltafin.cli;

import ai.deltafin.config.Suggestion;
import java.util.List;
import java.util.Optional;

/**
 * The process's entry. Answers {@code --version} and refuses unknown first words before picocli is loaded: its class
 * files are too old for the start-up cache, so loading them is the longest part of a short command.
 */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs one command line; the exit code is one of {@link ExitCode}. */
    static int run(String... arguments) {
        String first = arguments.length == 0 ? "--help" : arguments[0];
        if (first.equals("--version") || first.equals("-V")) {
            System.out.println("deltafin " + version());
            return ExitCode.OK;
        }
        List<String> names = Commands.names();
        if (!first.startsWith("-") && !names.contains(first)) {
            System.err.println("deltafin: unknown command '" + first + "'" + Suggestion.phrase(first, names)
                    + " (deltafin --help lists them)");
            return ExitCode.USAGE;
        }
        return CommandLines.run(first, arguments);
    }

    /** The version of the jar; of classes run from a build directory it is not known. */
    static String version() {
        return Optional.ofNullable(Main.class.getPackage().getImplementationVersion())
                .orElse("development");
    }
}
