import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncCompletionSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.DefaultServerTransportSecurityValidator;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.CompleteResult;
import io.modelcontextprotocol.spec.McpSchema.CompleteResult.CompleteCompletion;
import io.modelcontextprotocol.spec.McpSchema.PromptArgument;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.catalina.startup.Tomcat;

/** A small server: it listens at the port of the environment's PORT, or at a free one. */
final class Server {
    private static final String NOTES = "notes://today";
    private static final Map<String, Object> NUMBER = Map.of("type", "number");
    private static final Map<String, Object> TEXT = Map.of("type", "string");
    private static volatile String notes = "nothing yet";
    private static McpSyncServer server;

    private Server() {}

    static void run(String way) throws Exception {
        // The Java SDK offers this against DNS rebinding; its default is to accept every origin.
        var guard = DefaultServerTransportSecurityValidator.builder()
                .allowedOrigins(List.of("http://localhost:*", "http://127.0.0.1:*"))
                .build();
        switch (way) {
            case "stdio" -> server = features(McpServer.sync(new StdioServerTransportProvider(Peer.JSON)));
            case "sse" -> {
                var provider = HttpServletSseServerTransportProvider.builder()
                        .jsonMapper(Peer.JSON)
                        .securityValidator(guard)
                        .messageEndpoint("/messages")
                        .build();
                server = features(McpServer.sync(provider));
                listen(provider, "/sse");
            }
            default -> {
                var provider = HttpServletStreamableServerTransportProvider.builder()
                        .jsonMapper(Peer.JSON)
                        .securityValidator(guard)
                        .mcpEndpoint("/mcp")
                        .build();
                server = features(McpServer.sync(provider));
                listen(provider, "/mcp");
            }
        }
    }

    private static void listen(HttpServlet provider, String path) throws Exception {
        var port = System.getenv("PORT");
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(port == null ? 0 : Integer.parseInt(port));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        var context = tomcat.addContext("", System.getProperty("java.io.tmpdir"));
        var servlet = Tomcat.addServlet(context, "mcp", provider);
        servlet.setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "mcp");
        tomcat.start();
        System.out.println("http://127.0.0.1:" + tomcat.getConnector().getLocalPort() + path);
    }

    private static <S extends McpServer.SyncSpecification<S>> McpSyncServer features(
            McpServer.SyncSpecification<S> builder) {
        var capabilities = McpSchema.ServerCapabilities.builder()
                .tools(true)
                .resources(true, true)
                .prompts(true)
                .logging()
                .completions()
                .build();
        var steps = Map.<String, Object>of("type", "integer", "minimum", 1, "maximum", 50, "default", 3);
        return builder.serverInfo("innocent", "1.0.0")
                .capabilities(capabilities)
                .toolCall(tool("add", "Adds two numbers.", Map.of("a", NUMBER, "b", NUMBER), List.of("a", "b"), true), handle(Server::add))
                .toolCall(tool("count", "Counts slowly and reports its progress.", Map.of("steps", steps), List.of(), true), handle(Server::count))
                .toolCall(tool("order", "Asks the user what to order.", Map.of(), List.of(), true), handle(Server::order))
                .toolCall(tool("ask", "Asks the client's model.", Map.of("question", TEXT), List.of("question"), true), handle(Server::ask))
                .toolCall(tool("remember", "Writes a note.", Map.of("note", TEXT), List.of("note"), false), handle(Server::remember))
                .resources(new SyncResourceSpecification(
                        McpSchema.Resource.builder().uri(NOTES).name("today").mimeType("text/plain").build(),
                        (exchange, request) -> contents(NOTES, notes)))
                .resourceTemplates(new SyncResourceTemplateSpecification(
                        McpSchema.ResourceTemplate.builder().uriTemplate("notes://{day}/all").name("day").mimeType("text/plain").build(),
                        (exchange, request) -> contents(request.uri(), "the notes of a day")))
                .prompts(new SyncPromptSpecification(
                        new McpSchema.Prompt(
                                "review",
                                "Asks for a review",
                                List.of(new PromptArgument("code", "", true), new PromptArgument("language", "", true))),
                        (exchange, request) -> {
                            var text = "Please review this " + request.arguments().get("language") + ": "
                                    + request.arguments().get("code");
                            return new McpSchema.GetPromptResult(
                                    "a review", List.of(new McpSchema.PromptMessage(Role.USER, new TextContent(text))));
                        }))
                .completions(
                        completion(new McpSchema.PromptReference("review"), List.of("pascal", "perl", "python", "ruby")),
                        completion(new McpSchema.ResourceReference("notes://{day}/all"), List.of("monday", "tuesday")))
                .build();
    }

    private static SyncCompletionSpecification completion(McpSchema.CompleteReference ref, List<String> values) {
        return new SyncCompletionSpecification(ref, (exchange, request) -> {
            var prefix = request.argument().value();
            return new CompleteResult(new CompleteCompletion(
                    values.stream().filter(value -> value.startsWith(prefix)).toList()));
        });
    }

    private static ReadResourceResult contents(String uri, String text) {
        return new ReadResourceResult(List.of(new TextResourceContents(uri, "text/plain", text)));
    }

    private interface Handler {
        CallToolResult.Builder call(McpSyncServerExchange exchange, CallToolRequest request) throws Exception;
    }

    private static BiFunction<McpSyncServerExchange, CallToolRequest, CallToolResult> handle(Handler handler) {
        return (exchange, request) -> {
            try {
                return handler.call(exchange, request).build();
            } catch (Exception error) {
                return CallToolResult.builder().addTextContent(String.valueOf(error.getMessage())).isError(true).build();
            }
        };
    }

    private static McpSchema.Tool tool(
            String name, String description, Map<String, Object> properties, List<String> required, boolean readOnly) {
        var builder = McpSchema.Tool.builder()
                .name(name)
                .description(description)
                .annotations(McpSchema.ToolAnnotations.builder().readOnlyHint(readOnly).build())
                .inputSchema(new McpSchema.JsonSchema("object", properties, required, null, null, null));
        if (name.equals("add")) {
            builder.outputSchema(Map.of("type", "object", "properties", Map.of("sum", NUMBER), "required", List.of("sum")));
        }
        return builder.build();
    }

    private static double number(CallToolRequest request, String name) {
        return ((Number) request.arguments().get(name)).doubleValue();
    }

    private static CallToolResult.Builder add(McpSyncServerExchange exchange, CallToolRequest request) {
        return CallToolResult.builder()
                .structuredContent(Map.of("sum", number(request, "a") + number(request, "b")))
                .isError(false);
    }

    private static CallToolResult.Builder count(McpSyncServerExchange exchange, CallToolRequest request)
            throws Exception {
        int steps = request.arguments().containsKey("steps") ? (int) number(request, "steps") : 3;
        for (int step = 1; step <= steps; step++) {
            Thread.sleep(100);
            if (request.progressToken() != null) {
                exchange.progressNotification(new McpSchema.ProgressNotification(
                        request.progressToken(), (double) step, (double) steps, "step " + step));
            }
        }
        exchange.loggingNotification(McpSchema.LoggingMessageNotification.builder()
                .level(McpSchema.LoggingLevel.INFO)
                .logger("count")
                .data("counted to " + steps)
                .build());
        return CallToolResult.builder().addTextContent("counted to " + steps);
    }

    private static CallToolResult.Builder order(McpSyncServerExchange exchange, CallToolRequest request) {
        Map<String, Object> schema = Map.of(
                "type", "object",
                "properties", Map.of("name", TEXT, "amount", Map.of("type", "integer")),
                "required", List.of("name"));
        var answer = exchange.createElicitation(McpSchema.ElicitRequest.builder()
                .message("What do you want?")
                .requestedSchema(schema)
                .build());
        return CallToolResult.builder().addTextContent(answer.action() + ": " + answer.content());
    }

    private static CallToolResult.Builder ask(McpSyncServerExchange exchange, CallToolRequest request) {
        var question = new McpSchema.SamplingMessage(
                Role.USER, new TextContent(String.valueOf(request.arguments().get("question"))));
        var answer = exchange.createMessage(McpSchema.CreateMessageRequest.builder()
                .messages(List.of(question))
                .maxTokens(50)
                .build());
        return CallToolResult.builder().addTextContent("the model said: " + answer.content());
    }

    private static CallToolResult.Builder remember(McpSyncServerExchange exchange, CallToolRequest request) {
        notes = String.valueOf(request.arguments().get("note"));
        server.notifyResourcesUpdated(new McpSchema.ResourcesUpdatedNotification(NOTES));
        return CallToolResult.builder().addTextContent("noted");
    }
}
