package ai.deltafin.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Prints the completion script of every command and option. */
@Command(
        name = "completion",
        description = "Prints a completion script for bash and zsh: source <(deltafin completion)",
        mixinStandardHelpOptions = true)
final class CompletionCommand implements Callable<Integer> {

    @Override
    public Integer call() {
        CommandLine all = CommandLines.of(Commands.names());
        System.out.print(AutoComplete.bash("deltafin", all));
        return ExitCode.OK;
    }
}
