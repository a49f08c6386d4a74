package ai.deltafin.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the C tests of the kernels (src/test/c/run.sh): every instruction set this CPU has against the scalar twin, bit
 * for bit, with hashes that every platform must print; and the NEON tier under an emulator where one is installed.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class NativeKernelsTest {
    /** What run.sh exits with when the tools for what was asked are not here. */
    private static final int SKIPPED = 77;

    @TempDir
    Path work;

    @Test
    void everyInstructionSetOfThisMachineEqualsTheScalarTwin() throws Exception {
        Run run = run("host");
        assertThat(run.status).as(run.output).isZero();
        assertThat(run.output).contains("scalar, 1 threads").contains(" 0 failed");
    }

    @Test
    void neonUnderAnEmulatorEqualsTheScalarTwin() throws Exception {
        Run run = run("aarch64");
        assumeFalse(run.status == SKIPPED, run.output);
        assertThat(run.status).as(run.output).isZero();
        assertThat(run.output).contains("neon, 1 threads").contains(" 0 failed");
    }

    private record Run(int status, String output) {}

    private Run run(String what) throws IOException, InterruptedException {
        Path log = work.resolve("log");
        Process process = new ProcessBuilder("sh", "src/test/c/run.sh", "--work", work.toString(), what)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int status = process.waitFor();
        String output = Files.readString(log);
        System.out.println(output);
        return new Run(status, output);
    }
}
