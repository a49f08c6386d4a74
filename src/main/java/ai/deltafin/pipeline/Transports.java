package ai.deltafin.pipeline;

import ai.deltafin.config.ConfigException;
import ai.deltafin.config.PipelineConfig;
import io.vertx.core.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Chooses how Netty talks to the kernel. Vert.x itself would take epoll even where io_uring is there. */
final class Transports {

    private record Candidate(String name, Supplier<Transport> transport) {}

    private static final List<Candidate> BEST_FIRST = List.of(
            new Candidate("io_uring", () -> Transport.IO_URING),
            new Candidate("epoll", () -> Transport.EPOLL),
            new Candidate("kqueue", () -> Transport.KQUEUE),
            new Candidate("nio", () -> Transport.NIO));

    /**
     * A transport that works here.
     *
     * @param name its name in the configuration
     * @param reason why better ones were passed over; empty when there is none better
     */
    record Choice(String name, Transport transport, String reason) {}

    private Transports() {}

    /**
     * The wanted transport, or the best one for {@code auto}.
     *
     * @throws ConfigException if a transport was asked for by name and does not work here
     */
    static Choice choose(PipelineConfig config) {
        boolean auto = config.transport().equals("auto");
        List<String> passed = new ArrayList<>();
        for (Candidate candidate : BEST_FIRST) {
            if (!auto && !candidate.name.equals(config.transport())) {
                continue;
            }
            Transport transport = candidate.transport.get();
            if (transport != null && transport.available()) {
                return new Choice(candidate.name, transport, String.join("; ", passed));
            }
            passed.add(candidate.name + ": " + cause(transport));
        }
        throw new ConfigException("pipeline.transport: " + String.join("; ", passed) + "; use auto or nio");
    }

    private static String cause(@org.jspecify.annotations.Nullable Transport transport) {
        if (transport == null || transport.unavailabilityCause() == null) {
            return "not in this build";
        }
        Throwable root = transport.unavailabilityCause();
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage());
    }
}
