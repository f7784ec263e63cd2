package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
	"github.com/parley-mcp/parley/server"
)

// Bounds for everything in the corpus. The limit on messages is small, so that
// exceeding it is cheap.
const (
	patience = 2 * time.Minute // before a test gives up: nothing that works takes as long, however busy the machine
	maxBytes = 64 << 10        // of one message
	maxAlloc = 96 << 20        // bytes that one case may make the process allocate
)

type textIn struct {
	Text string `json:"text"`
}

// target is the server that the whole corpus is sent to.
var target = newTarget()

// newTarget returns a server with one of everything.
func newTarget() *server.Server {
	s := server.New(mcp.Implementation{Name: "target", Version: "1"}, &server.Options{
		Logger: mcptest.Quiet(), Subscriptions: true, Logging: true, Tasks: server.TaskOptions{Rate: mcp.Rate{PerSecond: -1}},
	})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Call, in textIn) (string, error) { return in.Text, nil })
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		in, err := server.Elicit[textIn](ctx, call, "text", "What?")
		return in.Text, err
	})
	server.AddTool(s, mcp.Tool{Name: "work", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}}, func(ctx context.Context, call *server.Call, _ struct{}) (string, error) {
		in, err := server.Elicit[textIn](ctx, call, "text", "What?")
		return in.Text, err
	})
	s.AddSkills(fstest.MapFS{"notes/SKILL.md": {Data: []byte("---\nname: notes\ndescription: Takes notes.\n---\nTake notes.\n")}}, nil)
	addChecked(s, "deploy", `"region":{"type":"string","x-mcp-header":"Region"}`)
	addChecked(s, "pattern", `"p":{"type":"string","pattern":"^(a+)+$"},"n":{"type":"integer","multipleOf":3},"u":{"type":"array","uniqueItems":true}`)
	s.AddRawPrompt(mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, func(_ context.Context, _ *server.Call, args map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{mcp.UserMessage(mcp.Text("Hello " + args["who"]))}}, nil
	})
	s.CompletePrompt("greet", "who", server.CompleteFrom("Ann", "Bob"))
	s.AddResource(mcp.Resource{URI: "test:///a", Name: "a"}, func(context.Context, *server.Call, string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource("test:///a", "", "a")), nil
	})
	server.AddTemplate(s, mcp.ResourceTemplate{URITemplate: "test:///{+path}{?q,r}", Name: "t"}, func(_ context.Context, _ *server.Call, _ string, v map[string]string) (*mcp.ReadResourceResult, error) {
		return server.Contents(mcp.TextResource("test:///t", "", v["path"])), nil
	})
	return s
}

// addChecked adds a tool whose arguments are checked against a schema with
// these properties.
func addChecked(s *server.Server, name, properties string) {
	schema := json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)
	s.AddRawTool(mcp.Tool{Name: name, InputSchema: schema}, func(context.Context, *server.Call, json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("ok")}}, nil
	})
}

// parked is the ID of a task of target that waits for an answer, which is everybody's.
var parked = sync.OnceValue(func() string {
	ctx := context.Background()
	capable := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Empty{}}}
	x := &mcp.Exchange{
		ID: jsonrpc.StringID("1"), Method: mcp.MethodCallTool, Params: json.RawMessage(`{"name":"work"}`), Task: &mcp.TaskOffer{},
		Peer: mcp.Peer{Revision: mcp.Revision20260728, Capabilities: capable},
	}
	result, err := target.Serve(ctx, x)
	made, ok := result.(*mcp.CreateTaskResult)
	if err != nil || !ok {
		panic(fmt.Sprintf("the task was not made: %v, %v", result, err))
	}
	for {
		state, err := target.Serve(ctx, &mcp.Exchange{ID: x.ID, Method: mcp.MethodGetTask, Params: json.RawMessage(`{"taskId":"` + made.ID + `"}`), Peer: x.Peer})
		if err != nil {
			panic(err)
		}
		if state.(*mcp.TaskState).Status != mcp.TaskWorking {
			return made.ID
		}
		runtime.Gosched()
	}
})

// cost fails a test if f makes the process allocate too much, or does not end in
// foreseeable time. A few kilobytes of input must not cause much work.
func cost(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > maxAlloc {
		t.Errorf("%d MiB were allocated", n>>20)
	}
	if d := time.Since(start); d > patience {
		t.Errorf("it took %v", d)
	}
}

const metaOfStateless = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func metaOf(era string) string {
	if era == "stateless" {
		return metaOfStateless
	}
	return `"_meta":{}`
}

// good is a request that is always valid.
func good(id, era string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{%s,"name":"echo","arguments":{"text":"fine"}}}`, id, metaOf(era))
}

// initialize opens a session.
func initialize(revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`, revision)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// moment returns the values of the placeholders that are the same for all cases
// of a route. A client that is «able» can be asked, one that is «tasked» can also
// take tasks, and «task» is the ID of a task that waits for an answer.
func moment(r route) map[string]string {
	able := strings.Replace(metaOf(r.era), `Capabilities":{}`, `Capabilities":{"elicitation":{"form":{}}}`, 1)
	tasked := strings.Replace(able, `"elicitation"`, `"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation"`, 1)
	return map[string]string{"meta": metaOf(r.era), "able": able, "tasked": tasked, "task": parked(), "": ""}
}
