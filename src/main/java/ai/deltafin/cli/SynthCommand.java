package ai.deltafin.cli;

import ai.deltafin.bench.SynthCheckpoint;
import ai.deltafin.bench.SynthShape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes a checkpoint with random weights in the released format, for tests and benchmarks. */
@Command(
        name = "synth",
        description = "Writes a synthetic checkpoint: released format, random weights of realistic distribution.",
        mixinStandardHelpOptions = true)
final class SynthCommand implements Callable<Integer> {
    private static final long REPORT_MILLIS = 2000;

    /** Whose dimensions. */
    enum Preset {
        k3,
        demo;

        SynthShape shape() {
            return this == k3 ? SynthShape.K3 : SynthShape.DEMO;
        }
    }

    @Option(names = "--preset", required = true, description = "k3 or demo: whose dimensions.")
    Preset preset = Preset.demo;

    @Option(names = "--layers", description = "How many layers; else the preset's.")
    int layers;

    @Option(names = "--experts", description = "Routed experts of a layer; else the preset's.")
    int experts;

    @Option(names = "--vocab", description = "How many token ids; else the preset's.")
    int vocab;

    @Option(names = "--seed", description = "Same seed, same bytes.")
    long seed = 1;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "Directory to write to.")
    Path out = Path.of("");

    @Override
    public Integer call() throws IOException {
        SynthShape shape = preset.shape().with(layers, experts, vocab);
        LongAdder done = new LongAdder();
        SynthCheckpoint checkpoint = new SynthCheckpoint(shape, seed, out, done::add);
        long total = checkpoint.bytes();
        Files.createDirectories(out);
        long free = Files.getFileStore(out).getUsableSpace();
        if (free < total) {
            throw new CommandFailure(
                    ExitCode.FAILURE,
                    "%s has %s free, up to %s are needed: fewer --layers or --experts"
                            .formatted(out, gigabytes(free), gigabytes(total)));
        }
        long begin = System.nanoTime();
        Thread progress = Thread.ofVirtual().start(() -> report(done, total));
        long written;
        try {
            written = checkpoint.write(Runtime.getRuntime().availableProcessors());
        } finally {
            progress.interrupt();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%s: %s, %d layers, %d experts; %s written in %.1f s (%.2f GB/s)%n",
                out,
                gigabytes(total),
                shape.layers(),
                shape.experts(),
                gigabytes(written),
                seconds,
                written / seconds / 1e9);
        return ExitCode.OK;
    }

    private static String gigabytes(long bytes) {
        return String.format(Locale.ROOT, "%.2f GB", bytes / 1e9);
    }

    private static void report(LongAdder done, long total) {
        try {
            while (true) {
                Thread.sleep(REPORT_MILLIS);
                System.err.printf(Locale.ROOT, "  %s of %s%n", gigabytes(done.sum()), gigabytes(total));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the command is done
        }
    }
}
