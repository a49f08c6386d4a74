package ai.deltafin.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DemoModelTest {
    @TempDir
    Path cache;

    private final DemoModel embedded = new DemoModel(DemoModel.class.getClassLoader());

    @Test
    void extracted_isTheCheckpointOnce() throws Exception {
        Path copy = embedded.extracted(cache);
        try (Checkpoint demo = Checkpoint.open(copy)) {
            assertThat(demo.tensorCount()).isEqualTo(4948);
        }
        assertThat(copy.resolve("tiktoken.model")).exists();
        assertThat(embedded.extracted(cache)).isEqualTo(copy);
        assertThat(names()).containsExactly(copy.getFileName().toString());
    }

    @Test
    void extracted_byManyAtOnce_givesOneWholeCopy() throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            List<Future<Path>> copies = threads.invokeAll(
                    List.<Callable<Path>>of(this::extract, this::extract, this::extract, this::extract));
            for (Future<Path> copy : copies) {
                Checkpoint.open(copy.get()).close();
            }
        }
        assertThat(names()).hasSize(1);
    }

    private Path extract() {
        return embedded.extracted(cache);
    }

    @Test
    void damagedProgram_leavesNothingBehind() throws Exception {
        var damaged = new DemoModel(new ClassLoader(DemoModel.class.getClassLoader()) {
            @Override
            public @Nullable InputStream getResourceAsStream(String name) {
                return name.endsWith("config.json")
                        ? new ByteArrayInputStream(new byte[10])
                        : super.getResourceAsStream(name);
            }
        });
        assertThatThrownBy(() -> damaged.extracted(cache))
                .isInstanceOf(ModelException.class)
                .hasMessageContainingAll("config.json", "SHA-256", "install it again");
        assertThat(names()).isEmpty();
    }

    @Test
    void cacheThatIsAFile_isExplained() throws Exception {
        Path file = Files.writeString(cache.resolve("file"), "");
        assertThatThrownBy(() -> embedded.extracted(file))
                .isInstanceOf(ModelException.class)
                .hasMessageContainingAll(file.toString(), "XDG_CACHE_HOME", "--model");
    }

    @Test
    void cache_followsTheEnvironment() {
        assertThat(DemoModel.cache(Map.of("XDG_CACHE_HOME", "/var/x"), "/home/a"))
                .hasToString("/var/x/deltafin");
        assertThat(DemoModel.cache(Map.of("XDG_CACHE_HOME", "x"), "/home/a")).hasToString("/home/a/.cache/deltafin");
        assertThat(DemoModel.cache(Map.of(), "/home/a")).hasToString("/home/a/.cache/deltafin");
    }

    private List<String> names() throws Exception {
        try (Stream<Path> files = Files.list(cache)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
