import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CompleteRequest;
import io.modelcontextprotocol.spec.McpSchema.CompleteRequest.CompleteArgument;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import reactor.core.publisher.Mono;

/** Does everything that a client can do. What fails is told on standard error and left. */
final class Client {
    private static final Duration EACH = Duration.ofSeconds(3);
    private static final Duration END = Duration.ofSeconds(10); // a server that does not exit is waited for
    private static final long WHOLE = 25_000; // milliseconds of everything

    private final McpAsyncClient client;
    private final Map<String, Integer> done = new TreeMap<>();

    private Client(List<String> place) {
        client = McpClient.async(transport(place))
                .requestTimeout(EACH)
                .clientInfo(new McpSchema.Implementation("innocent-client", "1.0.0"))
                .capabilities(McpSchema.ClientCapabilities.builder().roots(true).sampling().elicitation().build())
                .roots(new McpSchema.Root("file:///tmp", "tmp"))
                .elicitation(request -> Mono.just(new McpSchema.ElicitResult(
                        McpSchema.ElicitResult.Action.ACCEPT, object(request.requestedSchema()))))
                .sampling(request -> Mono.just(new McpSchema.CreateMessageResult(
                        McpSchema.Role.ASSISTANT,
                        new McpSchema.TextContent("x"),
                        "innocent-model",
                        McpSchema.CreateMessageResult.StopReason.END_TURN)))
                .progressConsumer(notification -> Mono.fromRunnable(() -> count("progress")))
                .build();
    }

    static void run(List<String> place) throws Exception {
        var it = new Client(place);
        var thread = new Thread(it::everything);
        thread.start();
        thread.join(WHOLE);
        synchronized (it.done) {
            System.out.println(Peer.JSON.writeValueAsString(it.done));
        }
        System.exit(0); // whatever still hangs
    }

    private static McpClientTransport transport(List<String> place) {
        if (place.get(0).equals("--")) {
            var command = ServerParameters.builder(place.get(1)).args(place.subList(2, place.size())).build();
            return new StdioClientTransport(command, Peer.JSON);
        }
        var url = URI.create(place.get(0));
        var origin = url.getScheme() + "://" + url.getAuthority();
        if (url.getPath().endsWith("/sse")) {
            return HttpClientSseClientTransport.builder(origin).sseEndpoint(url.getPath()).build();
        }
        return HttpClientStreamableHttpTransport.builder(origin).endpoint(url.getPath()).build();
    }

    private void everything() {
        if (attempt("connect", () -> client.initialize().block()) == null) {
            return;
        }
        var has = client.getServerCapabilities();
        if (has.logging() != null) {
            attempt("level", () -> client.setLoggingLevel(McpSchema.LoggingLevel.DEBUG).block());
        }
        // Without a cursor these fetch all pages.
        var tools = has.tools() == null ? null : attempt("list tools", () -> client.listTools().block().tools());
        var resources = has.resources() == null ? null : attempt("list resources", () -> client.listResources().block().resources());
        var templates = has.resources() == null
                ? null
                : attempt("list templates", () -> client.listResourceTemplates().block().resourceTemplates());
        var prompts = has.prompts() == null ? null : attempt("list prompts", () -> client.listPrompts().block().prompts());
        var watches = resources != null && !resources.isEmpty() && Boolean.TRUE.equals(has.resources().subscribe());
        var watched = watches ? resources.get(0).uri() : null;
        if (watched != null) {
            attempt("subscribe", () -> client.subscribeResource(new McpSchema.SubscribeRequest(watched)).block());
        }
        for (var tool : tools == null ? List.<McpSchema.Tool>of() : tools) {
            Map<String, Object> meta = Map.of("progressToken", "progress of " + tool.name());
            var request = new McpSchema.CallToolRequest(tool.name(), object(tool.inputSchema()), meta);
            attempt("call", () -> client.callTool(request).block());
        }
        for (var resource : resources == null ? List.<McpSchema.Resource>of() : resources) {
            attempt("read", () -> client.readResource(new McpSchema.ReadResourceRequest(resource.uri())).block());
        }
        for (var template : templates == null ? List.<McpSchema.ResourceTemplate>of() : templates) {
            var uri = template.uriTemplate().replaceAll("\\{[^}]*\\}", "x");
            attempt("read", () -> client.readResource(new McpSchema.ReadResourceRequest(uri)).block());
            var variable = template.uriTemplate().replaceFirst("[^{]*\\{\\W*(\\w+).*", "$1");
            complete(new McpSchema.ResourceReference(template.uriTemplate()), variable, "");
        }
        for (var prompt : prompts == null ? List.<McpSchema.Prompt>of() : prompts) {
            Map<String, Object> arguments = new HashMap<>();
            var names = prompt.arguments() == null ? List.<McpSchema.PromptArgument>of() : prompt.arguments();
            names.forEach(argument -> arguments.put(argument.name(), "x"));
            attempt("prompt", () -> client.getPrompt(new McpSchema.GetPromptRequest(prompt.name(), arguments)).block());
            if (!names.isEmpty()) {
                complete(new McpSchema.PromptReference(prompt.name()), names.get(0).name(), "p");
            }
        }
        attempt("ping", () -> client.ping().block());
        attempt("roots changed", () -> client.rootsListChangedNotification().block());
        attempt("wait", () -> Mono.delay(Duration.ofMillis(200)).block()); // for notifications on their way
        if (watched != null) {
            attempt("unsubscribe", () -> client.unsubscribeResource(new McpSchema.UnsubscribeRequest(watched)).block());
        }
        attempt("close", () -> client.closeGracefully().block(END));
    }

    private void complete(McpSchema.CompleteReference ref, String name, String value) {
        if (client.getServerCapabilities().completions() == null) {
            return;
        }
        attempt("complete", () -> client.completeCompletion(new CompleteRequest(ref, new CompleteArgument(name, value))).block());
    }

    private <T> T attempt(String step, Callable<T> run) {
        try {
            T result = run.call();
            count(step);
            return result;
        } catch (Exception error) {
            System.err.println(step + ": " + error.getMessage());
            return null;
        }
    }

    private void count(String step) {
        synchronized (done) {
            done.merge(step, 1, Integer::sum);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object schema) {
        var text = Peer.JSON.convertValue(schema, Map.class);
        return sample(text) instanceof Map<?, ?> value ? (Map<String, Object>) value : Map.of();
    }

    /** A value that a schema asks for: the first of a choice, "x", 1 or true. */
    @SuppressWarnings("unchecked")
    private static Object sample(Map<String, Object> schema) {
        for (var name : List.of("const", "default")) {
            if (schema.containsKey(name)) {
                return schema.get(name);
            }
        }
        if (schema.get("enum") instanceof List<?> choices && !choices.isEmpty()) {
            return choices.get(0);
        }
        for (var name : List.of("oneOf", "anyOf")) {
            if (schema.get(name) instanceof List<?> choices && !choices.isEmpty()) {
                return sample((Map<String, Object>) choices.get(0));
            }
        }
        var type = schema.get("type") instanceof List<?> types ? types.get(0) : schema.get("type");
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            Map<String, Object> value = new HashMap<>();
            properties.forEach((name, property) -> value.put((String) name, sample((Map<String, Object>) property)));
            return value;
        }
        return switch (String.valueOf(type)) {
            case "object" -> Map.of();
            case "array" -> List.of(schema.get("items") instanceof Map<?, ?> items ? sample((Map<String, Object>) items) : "x");
            case "boolean" -> true;
            case "integer", "number" -> schema.get("minimum") instanceof Number least ? Math.max(1, least.intValue()) : 1;
            default -> "email".equals(schema.get("format"))
                    ? "x@example.com"
                    : "x".repeat(schema.get("minLength") instanceof Number least ? Math.max(1, least.intValue()) : 1);
        };
    }
}
