import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.apache.catalina.startup.Tomcat;

/** A small server for parley to talk to. */
final class Server {
    private static final String NOTES = "notes://today";
    private static final Map<String, Object> NUMBER = Map.of("type", "number");
    private static final Map<String, Object> TEXT = Map.of("type", "string");

    private Server() {}

    static void run(String way) throws Exception {
        if (way.equals("stdio")) {
            tick(features(McpServer.sync(new StdioServerTransportProvider(Peer.JSON))));
            return;
        }
        var provider = HttpServletStreamableServerTransportProvider.builder()
                .jsonMapper(Peer.JSON)
                .mcpEndpoint("/mcp")
                .build();
        var server = features(McpServer.sync(provider));
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        var context = tomcat.addContext("", System.getProperty("java.io.tmpdir"));
        var servlet = Tomcat.addServlet(context, "mcp", provider);
        servlet.setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "mcp");
        tomcat.start();
        System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + "/mcp");
        tick(server);
    }

    private static <S extends McpServer.SyncSpecification<S>> McpSyncServer features(
            McpServer.SyncSpecification<S> builder) {
        var capabilities = McpSchema.ServerCapabilities.builder()
                .tools(true)
                .resources(subscriptions(), true)
                .prompts(true)
                .build();
        return builder.serverInfo("interop", "1")
                .capabilities(capabilities)
                .toolCall(tool("add", Map.of("a", NUMBER, "b", NUMBER), Map.of("sum", NUMBER)), handle(Server::add))
                .toolCall(tool("count", Map.of("steps", NUMBER, "pause", NUMBER), null), handle(Server::count))
                .toolCall(tool("order", Map.of(), null), handle(Server::order))
                .toolCall(tool("ask", Map.of("text", TEXT), null), handle(Server::ask))
                .toolCall(tool("where", Map.of(), null), handle(Server::where))
                .resources(new SyncResourceSpecification(
                        McpSchema.Resource.builder().uri(NOTES).name("today").build(),
                        (exchange, request) -> new McpSchema.ReadResourceResult(
                                List.of(new McpSchema.TextResourceContents(NOTES, "text/plain", "grüß dich")))))
                .prompts(new SyncPromptSpecification(
                        new McpSchema.Prompt(
                                "review", "Asks for a review", List.of(new McpSchema.PromptArgument("code", "", true))),
                        (exchange, request) -> new McpSchema.GetPromptResult(
                                "a review",
                                List.of(new McpSchema.PromptMessage(
                                        Role.USER,
                                        new TextContent("Please review: " + request.arguments().get("code")))))))
                .build();
    }

    /** Before 1.0, this SDK has subscriptions in its schema, and nothing that serves them. */
    private static boolean subscriptions() {
        return !System.getProperty("peer.version").startsWith("0.");
    }

    private interface Handler {
        CallToolResult.Builder call(McpSyncServerExchange exchange, CallToolRequest request) throws Exception;
    }

    private static BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> handle(Handler handler) {
        return (exchange, request) -> {
            try {
                return handler.call(exchange, request).build();
            } catch (Exception error) {
                return CallToolResult.builder()
                        .addTextContent(String.valueOf(error.getMessage()))
                        .isError(true)
                        .build();
            }
        };
    }

    private static McpSchema.Tool tool(String name, Map<String, Object> in, Map<String, Object> out) {
        var required = List.copyOf(in.keySet());
        var builder = McpSchema.Tool.builder()
                .name(name)
                .description("For parley")
                .inputSchema(new McpSchema.JsonSchema("object", in, required, null, null, null));
        if (out != null) {
            builder.outputSchema(Map.of("type", "object", "properties", out));
        }
        return builder.build();
    }

    private static double number(CallToolRequest request, String name) {
        if (request.arguments().get(name) instanceof Number number) {
            return number.doubleValue();
        }
        throw new IllegalArgumentException("the number " + name + " is required");
    }

    private static CallToolResult.Builder add(McpSyncServerExchange exchange, CallToolRequest request) {
        return CallToolResult.builder()
                .structuredContent(Map.of("sum", number(request, "a") + number(request, "b")))
                .isError(false);
    }

    private static CallToolResult.Builder count(McpSyncServerExchange exchange, CallToolRequest request)
            throws Exception {
        int steps = (int) number(request, "steps");
        for (int step = 1; step <= steps; step++) {
            Thread.sleep((long) (1000 * number(request, "pause")));
            exchange.progressNotification(new McpSchema.ProgressNotification(
                    request.progressToken(), (double) step, (double) steps, "step " + step));
        }
        return CallToolResult.builder().addTextContent("counted to " + steps);
    }

    private static CallToolResult.Builder order(McpSyncServerExchange exchange, CallToolRequest request) {
        Map<String, Object> schema = Map.of(
                "type", "object",
                "properties", Map.of("name", TEXT, "amount", Map.of("type", "integer")),
                "required", List.of("name", "amount"));
        var answer = exchange.createElicitation(McpSchema.ElicitRequest.builder()
                .message("What do you want?")
                .requestedSchema(schema)
                .build());
        return CallToolResult.builder().addTextContent(answer.action() + ": " + answer.content());
    }

    private static CallToolResult.Builder ask(McpSyncServerExchange exchange, CallToolRequest request) {
        var question = new McpSchema.SamplingMessage(
                Role.USER, new TextContent(String.valueOf(request.arguments().get("text"))));
        var answer = exchange.createMessage(McpSchema.CreateMessageRequest.builder()
                .messages(List.of(question))
                .maxTokens(50)
                .build());
        return CallToolResult.builder().addTextContent("the model said: " + ((TextContent) answer.content()).text());
    }

    private static CallToolResult.Builder where(McpSyncServerExchange exchange, CallToolRequest request) {
        var uris = exchange.listRoots().roots().stream().map(McpSchema.Root::uri).collect(Collectors.joining(" "));
        return CallToolResult.builder().addTextContent("roots: " + uris);
    }

    /** Says twice a second that the notes have changed, for as long as something else keeps the process alive. */
    private static void tick(McpSyncServer server) {
        var thread = new Thread(() -> {
            while (subscriptions()) {
                try {
                    Thread.sleep(500);
                    server.notifyResourcesUpdated(new McpSchema.ResourcesUpdatedNotification(NOTES));
                } catch (InterruptedException error) {
                    return;
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
