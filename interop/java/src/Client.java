import io.modelcontextprotocol.client.McpAsyncClient;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/** Checks `parley serve` against what lib/reference.mjs says of it. */
final class Client {
    private final Map<String, Object> expected;
    private final McpAsyncClient client;
    private final List<String> questions = new CopyOnWriteArrayList<>();
    private final List<String> prompts = new CopyOnWriteArrayList<>();
    private final List<McpSchema.ProgressNotification> progress = new CopyOnWriteArrayList<>();
    private final CountDownLatch updated = new CountDownLatch(1);

    private Client(String way, Map<String, Object> expected) {
        this.expected = expected;
        this.client = McpClient.async(transport(way))
                .requestTimeout(Duration.ofSeconds(20))
                .capabilities(McpSchema.ClientCapabilities.builder()
                        .roots(true)
                        .sampling()
                        .elicitation()
                        .build())
                .roots(new McpSchema.Root(text("root"), "inside"))
                .elicitation(request -> {
                    questions.add(request.message());
                    return Mono.just(new McpSchema.ElicitResult(
                            McpSchema.ElicitResult.Action.ACCEPT, fill(request.requestedSchema())));
                })
                .sampling(request -> {
                    prompts.add(String.valueOf(request.messages()));
                    return Mono.just(new McpSchema.CreateMessageResult(
                            McpSchema.Role.ASSISTANT,
                            new TextContent(text("sampling", "answer")),
                            "parley-interop-model",
                            McpSchema.CreateMessageResult.StopReason.END_TURN));
                })
                .progressConsumer(notification -> Mono.fromRunnable(() -> progress.add(notification)))
                .resourcesUpdateConsumer(contents -> Mono.fromRunnable(updated::countDown))
                .build();
    }

    static void run(String way, Map<String, Object> expected) throws Exception {
        var it = new Client(way, expected);
        if (check("connect", it::connect)) {
            check("list", it::list);
            check("call", it::call);
            check("structured", it::structured);
            check("wrong args", it::wrongArguments);
            check("roots", it::roots);
            check("elicit", it::elicit);
            check("sample", it::sample);
            check("progress", it::progress);
            check("subscribe", it::subscribe);
            check("ping", () -> it.client.ping().block());
            check("end", it::end);
        }
        System.exit(0);
    }

    private McpClientTransport transport(String way) {
        if (way.equals("http")) {
            return HttpClientStreamableHttpTransport.builder(text("origin"))
                    .endpoint("/mcp")
                    .build();
        }
        var command = ServerParameters.builder(text("parley")).args(texts("args")).build();
        return new StdioClientTransport(command, Peer.JSON);
    }

    private void connect() {
        var result = client.initialize().block();
        equal(result.protocolVersion(), text("revision"), "revision");
        equal(result.serverInfo().name(), "parley-reference", "server");
    }

    private void list() {
        var tools = client.listTools().block().tools().stream().map(McpSchema.Tool::name).toList();
        for (var tool : List.of("calculate", "paced", "checkout", "sampling", "roots", "structured")) {
            includes(tools, text(tool, "name"));
        }
        includes(client.listResources().block().resources().stream().map(McpSchema.Resource::uri).toList(), text("resource", "uri"));
        must(!client.listResourceTemplates().block().resourceTemplates().isEmpty(), "no templates");
        includes(client.listPrompts().block().prompts().stream().map(McpSchema.Prompt::name).toList(), text("prompt", "name"));
        var contents = client.readResource(new McpSchema.ReadResourceRequest(text("resource", "uri"))).block().contents();
        must(!contents.isEmpty(), "the resource is empty");
        var rendered = client.getPrompt(
                        new McpSchema.GetPromptRequest(text("prompt", "name"), map("prompt", "arguments")))
                .block();
        must(!rendered.messages().isEmpty(), "the prompt is empty");
    }

    private void call() {
        var result = call("calculate", null);
        must(!Boolean.TRUE.equals(result.isError()), "the call failed");
        equal(said(result), text("calculate", "text"), "result");
    }

    private void structured() {
        var result = (Map<?, ?>) call("structured", null).structuredContent();
        must(result != null, "no structured content");
        equal(String.valueOf(result.get(text("structured", "member"))), text("structured", "value"), "member");
    }

    private void wrongArguments() {
        var result = client.callTool(
                        new CallToolRequest(text("calculate", "name"), map("calculate", "wrongArguments")))
                .block();
        must(Boolean.TRUE.equals(result.isError()), "not a failed result");
        includes(said(result), text("calculate", "missing"));
    }

    private void roots() {
        var found = said(call("roots", null));
        includes(found, text("roots", "inside"));
        must(!found.contains(text("roots", "outside")), "found outside of the roots: " + found);
    }

    private void elicit() {
        var result = call("checkout", null);
        must(!Boolean.TRUE.equals(result.isError()), said(result));
        equal(String.valueOf(questions.size()), String.valueOf(map("checkout").get("questions")), "questions");
    }

    private void sample() {
        var result = call("sampling", null);
        includes(prompts, text("sampling", "prompt"));
        includes(said(result), text("sampling", "answer"));
    }

    private void progress() throws InterruptedException {
        call("paced", "paced token");
        int steps = ((Number) map("paced", "arguments").get("steps")).intValue();
        await(() -> progress.size() >= steps);
        equal(String.valueOf(progress.size()), String.valueOf(steps), "notifications");
        double last = 0;
        for (var notification : progress) {
            equal(notification.progressToken(), "paced token", "token");
            must(notification.progress() > last, "progress does not increase: " + progress);
            last = notification.progress();
        }
    }

    private void subscribe() throws InterruptedException {
        client.subscribeResource(new McpSchema.SubscribeRequest(text("change", "uri"))).block();
        // A stream of notifications is opened beside the requests; a change before that is heard by nobody.
        for (int i = 0; i < 40 && !updated.await(500, TimeUnit.MILLISECONDS); i++) {
            var result = call("change", null);
            must(!Boolean.TRUE.equals(result.isError()), said(result));
        }
        must(updated.getCount() == 0, "no notification came");
        client.unsubscribeResource(new McpSchema.UnsubscribeRequest(text("change", "uri"))).block();
    }

    private void end() throws InterruptedException {
        client.closeGracefully().block(Duration.ofSeconds(10));
        await(() -> ProcessHandle.current().children().findAny().isEmpty());
    }

    private CallToolResult call(String tool, String token) {
        Map<String, Object> meta = token == null ? null : Map.of("progressToken", token);
        return client.callTool(new CallToolRequest(text(tool, "name"), map(tool, "arguments"), meta)).block();
    }

    private static String said(CallToolResult result) {
        return result.content().stream()
                .filter(TextContent.class::isInstance)
                .map(block -> ((TextContent) block).text())
                .collect(Collectors.joining("\n"));
    }

    /** Fills a form the way a willing user would. */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> fill(Map<String, Object> schema) {
        Map<String, Object> answers = new HashMap<>();
        ((Map<String, Map<String, Object>>) schema.get("properties")).forEach((name, field) -> {
            if (field.get("oneOf") instanceof List<?> choices) {
                answers.put(name, ((Map<String, Object>) choices.get(0)).get("const"));
            } else if (field.get("enum") instanceof List<?> choices) {
                answers.put(name, choices.get(0));
            } else if ("boolean".equals(field.get("type"))) {
                answers.put(name, true);
            } else if ("string".equals(field.get("type"))) {
                answers.put(name, "email".equals(field.get("format")) ? "ada@example.com" : "Ada Lovelace");
            } else {
                answers.put(name, 1);
            }
        });
        return answers;
    }

    private interface Check {
        void run() throws Exception;
    }

    private static boolean check(String column, Check check) throws Exception {
        Map<String, Object> line = new HashMap<>(Map.of("column", column, "passed", true));
        try {
            check.run();
        } catch (Exception error) {
            line.put("passed", false);
            line.put("text", causes(error));
        }
        System.out.println(Peer.JSON.writeValueAsString(line));
        return (boolean) line.get("passed");
    }

    private static String causes(Throwable error) {
        return error == null ? "" : error + "\n" + causes(error.getCause());
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(Condition condition) throws InterruptedException {
        for (int i = 0; i < 400 && !condition.holds(); i++) {
            Thread.sleep(50);
        }
        must(condition.holds(), "not within 20 s");
    }

    private static void must(boolean condition, String message) {
        if (!condition) {
            throw new IllegalStateException(message);
        }
    }

    private static void equal(Object actual, Object expected, String what) {
        must(expected.equals(actual), what + ": expected " + expected + ", got " + actual);
    }

    private static void includes(Object whole, String part) {
        must(whole.toString().contains(part), part + " is missing in " + whole);
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> map(String... path) {
        Map<String, Object> value = expected;
        for (var name : path) {
            value = (Map<String, Object>) value.get(name);
        }
        return value;
    }

    private String text(String... path) {
        var parents = List.of(path).subList(0, path.length - 1).toArray(String[]::new);
        return (String) map(parents).get(path[path.length - 1]);
    }

    @SuppressWarnings("unchecked")
    private List<String> texts(String name) {
        return (List<String>) expected.get(name);
    }
}
