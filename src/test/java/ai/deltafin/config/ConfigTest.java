package ai.deltafin.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigTest {

    @TempDir
    Path dir;

    private Config load(String json, Map<String, String> environment, Map<String, String> overrides)
            throws IOException {
        return Config.load(Files.writeString(dir.resolve("c.json"), json), environment, overrides);
    }

    @Test
    void load_ofNothing_isTheDefaults() {
        assertThat(Config.load(null, Map.of("PATH", "/bin"), Map.of())).isEqualTo(Config.defaults());
    }

    @Test
    void load_commandLineBeatsEnvironmentBeatsFile() throws IOException {
        String file = "{\"engine\":{\"threads\":2,\"prefillChunk\":7,\"loraEps\":1e-6},\"server\":{\"port\":1}}";
        Map<String, String> environment = Map.of("DELTAFIN_ENGINE_THREADS", "3", "DELTAFIN_ENGINE_PREFILL_CHUNK", "8");
        Config config = load(file, environment, Map.of("engine.threads", "4"));
        assertThat(config.engine()).isEqualTo(new EngineConfig(4, "auto", 1e-6, 8, 1 << 20));
        assertThat(config.server().port()).isEqualTo(1);
        assertThat(config.server().host()).isEqualTo("127.0.0.1");
    }

    @Test
    void load_readsSizesDrivesAndLists() throws IOException {
        Config config = load(
                "{\"experts\":{\"cache\":\"24GiB\",\"drives\":[\"/a=b=2\",\"/c\"]}}",
                Map.of(),
                Map.of("experts.pin", "512MB"));
        assertThat(config.experts().cache().bytes()).isEqualTo(24L << 30);
        assertThat(config.experts().pin().bytes()).isEqualTo(512_000_000);
        assertThat(config.experts().drives()).containsExactly(new DriveConfig("/a=b", 2), new DriveConfig("/c", 0));
        assertThat(Config.load(null, Map.of(), Map.of("experts.drives", "/a=1, /b"))
                        .experts()
                        .drives())
                .containsExactly(new DriveConfig("/a", 1), new DriveConfig("/b", 0));
    }

    @Test
    void theFileInConf_isTheDefaults() throws IOException {
        Path conf = Path.of("conf/deltafin.json");
        assertThat(Config.load(conf, Map.of(), Map.of())).isEqualTo(Config.defaults());
        assertThat(Files.readString(conf)).isEqualTo(Config.defaults().toJson());
    }

    @Test
    void everyKey_isDocumented() throws IOException {
        String page = Files.readString(Path.of("docs/config.md"));
        for (var key : ConfigLoader.keys()) {
            assertThat(page)
                    .as("docs/config.md has a row for %s with its default", key.getKey())
                    .contains("| `" + key.getKey() + "` | `" + key.getValue().replace("\"", "") + "` |");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            {"engine":{"thread":2}}          ; unknown key 'engine.thread'; did you mean 'engine.threads'?
            {"engin":{}}                     ; unknown key 'engin'
            {"threads":2}                    ; did you mean 'engine.threads'?
            {"engine":{"threads":-1}}        ; engine.threads: must be 0..1024, not -1
            {"engine":{"threads":"2"}}       ; engine.threads: must be a whole number
            {"engine":{"threads":2.5}}       ; engine.threads: must be a whole number
            {"engine":{"threads":99999999999}} ; engine.threads: must be a whole number
            {"engine":{"threads":null}}      ; engine.threads: needs a value
            {"engine":3}                     ; engine: must be an object
            {"engine":{"isa":"sse"}}         ; engine.isa: must be one of auto, scalar
            {"experts":{"cache":"24 gigs"}}  ; experts.cache: '24 gigs' is not a size
            {"experts":{"pin":"auto"}}       ; experts.pin: needs a size
            {"experts":{"drives":"/a"}}      ; experts.drives: must be a list
            {"experts":{"drives":["/a=x"]}}  ; the share after '=' must be a number
            {"server":{"port":1,"port":2}}   ; not valid JSON
            {"server":{"port":1}} x          ; not valid JSON
            [1]                              ; must be one JSON object
            """)
    void load_namesWhatIsWrong(String json, String message) throws IOException {
        assertThatThrownBy(() -> load(json, Map.of(), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining(message)
                .hasMessageContaining("c.json");
    }

    @Test
    void load_namesTheSourceOfABadValue() {
        assertThatThrownBy(() -> Config.load(null, Map.of("DELTAFIN_ENGINE_THREADS", "many"), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("engine.threads: 'many'")
                .hasMessageContaining("DELTAFIN_ENGINE_THREADS");
        assertThatThrownBy(() -> Config.load(null, Map.of("DELTAFIN_ENGINE_THREAD", "2"), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("did you mean 'DELTAFIN_ENGINE_THREADS'?");
        assertThatThrownBy(() -> Config.load(null, Map.of(), Map.of("server.prt", "2")))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("did you mean 'server.port'?");
        assertThatThrownBy(() -> Config.load(dir.resolve("none.json"), Map.of(), Map.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("no such config file");
    }

    @Test
    void load_leavesTheLaunchersVariablesAlone() {
        assertThat(Config.load(null, Map.of("DELTAFIN_JAVA_OPTS", "-Xmx2g"), Map.of()))
                .isEqualTo(Config.defaults());
    }
}
