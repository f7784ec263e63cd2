import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.McpJsonMapperSupplier;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;

/**
 * What `parley check` judges of the official Java SDK.
 *
 * <pre>
 * Peer server stdio|http|sse      over HTTP it prints its URL
 * Peer client URL
 * Peer client -- COMMAND...
 * </pre>
 */
public final class Peer {
    static final McpJsonMapper JSON =
            ServiceLoader.load(McpJsonMapperSupplier.class).findFirst().orElseThrow().get();

    private Peer() {}

    public static void main(String[] args) throws Exception {
        List<String> rest = Arrays.asList(args).subList(1, args.length);
        switch (args[0]) {
            case "server" -> Server.run(rest.get(0));
            case "client" -> Client.run(rest);
            default -> throw new IllegalArgumentException("server or client, not " + args[0]);
        }
    }
}
