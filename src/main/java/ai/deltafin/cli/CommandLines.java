package ai.deltafin.cli;

import ai.deltafin.config.ConfigException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Builds picocli's command line and maps what went wrong to a message and an exit code, in this one place. */
final class CommandLines {

    private CommandLines() {}

    /** The root without subcommands of its own: {@link Commands} adds them. */
    @Command(
            name = "deltafin",
            description = "Runs the whole Kimi K3 on one machine.",
            mixinStandardHelpOptions = true,
            versionProvider = Version.class,
            synopsisSubcommandLabel = "COMMAND")
    static final class Root implements Runnable {
        @CommandLine.Spec
        CommandLine.Model.@org.jspecify.annotations.Nullable CommandSpec spec;

        @Override
        public void run() {
            CommandLine.usage(this, System.out);
        }
    }

    /** What {@code --version} prints. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"deltafin " + Main.version()};
        }
    }

    /** The command line with the named commands. */
    static CommandLine of(List<String> names) {
        CommandLine line = new CommandLine(new Root());
        for (String name : names) {
            line.addSubcommand(name, Commands.create(name));
        }
        line.setParameterExceptionHandler((e, _) -> {
            fail(e.getMessage());
            CommandLine.UnmatchedArgumentException.printSuggestions(e, System.err);
            System.err.println(e.getCommandLine().getHelp().fullSynopsis().strip());
            return ExitCode.USAGE;
        });
        line.setExecutionExceptionHandler((e, _, _) -> explain(e));
        line.setCaseInsensitiveEnumValuesAllowed(true);
        return line;
    }

    /** Runs the arguments; builds only the command whose name comes first, or all of them for help. */
    static int run(String first, String... arguments) {
        List<String> names = Commands.names();
        boolean whole = !names.contains(first) || first.equals("completion");
        return of(whole ? names : List.of(first)).execute(arguments);
    }

    private static int explain(Exception e) {
        if (e instanceof CommandFailure failure) {
            fail(failure.getMessage());
            return failure.exitCode();
        }
        if (e instanceof ConfigException) {
            fail(e.getMessage());
            return ExitCode.USAGE;
        }
        fail(e.getMessage() == null ? e.toString() : e.getMessage());
        if (Boolean.getBoolean("deltafin.stacktrace")) {
            e.printStackTrace();
        }
        return ExitCode.FAILURE;
    }

    private static void fail(@org.jspecify.annotations.Nullable String message) {
        System.err.println("deltafin: " + message);
    }
}
