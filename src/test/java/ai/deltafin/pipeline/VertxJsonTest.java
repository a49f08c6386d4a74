package ai.deltafin.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class VertxJsonTest {

    /** A dependency that brings Jackson 2 back makes Vert.x choose it without a word. */
    @Test
    void vertxTakesJackson3() throws Exception {
        assertThat(Json.CODEC.getClass().getName()).isEqualTo("io.vertx.core.json.jackson.v3.DatabindCodec");
        assertThat(new JsonObject("{\"a\":[1,{\"b\":null}]}").encode()).isEqualTo("{\"a\":[1,{\"b\":null}]}");
    }
}
