import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.McpJsonMapperSupplier;
import io.modelcontextprotocol.json.TypeRef;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * What this suite needs of the official Java SDK; all versions compile the same source.
 *
 * <pre>
 * Peer server stdio|http                a server; over HTTP it prints its URL
 * Peer client stdio|http EXPECTATIONS   a client of `parley serve`; prints a line of JSON for each check
 * </pre>
 */
public final class Peer {
    static final McpJsonMapper JSON =
            ServiceLoader.load(McpJsonMapperSupplier.class).findFirst().orElseThrow().get();

    private Peer() {}

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "server" -> Server.run(args[1]);
            case "client" -> Client.run(args[1], JSON.readValue(args[2], new TypeRef<Map<String, Object>>() {}));
            default -> throw new IllegalArgumentException("server or client, not " + args[0]);
        }
    }
}
