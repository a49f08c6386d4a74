package ai.deltafin.config;

/**
 * The HTTP server.
 *
 * @param host address to listen on; loopback unless asked otherwise
 * @param port TCP port; 0 takes a free one
 */
public record ServerConfig(String host, int port) {

    public ServerConfig {
        Check.range("server.port", port, 0, 65_535);
    }

    static ServerConfig defaults() {
        return new ServerConfig("127.0.0.1", 8000);
    }
}
