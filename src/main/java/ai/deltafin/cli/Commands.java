package ai.deltafin.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The commands by name, one line each. A class is loaded only when its command is asked for. */
final class Commands {

    private static final Map<String, Supplier<Object>> ALL = new LinkedHashMap<>();

    static {
        ALL.put("completion", CompletionCommand::new);
    }

    private Commands() {}

    static List<String> names() {
        return List.copyOf(ALL.keySet());
    }

    /** A new command object of a known name. */
    static Object create(String name) {
        Supplier<Object> command = ALL.get(name);
        if (command == null) {
            throw new IllegalArgumentException("no command " + name);
        }
        return command.get();
    }
}
