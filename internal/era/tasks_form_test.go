package era

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2025-11-25 basic/utilities/tasks#task.
// Spec: ext-tasks/draft tasks#tasks.
// One value of this module has the form of each revision on its wire.
func TestFormOfTasks(t *testing.T) {
	const dates = `"createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z"`
	task := func(status mcp.TaskStatus) mcp.Task {
		return mcp.Task{ID: "t1", Status: status, CreatedAt: "2025-11-25T10:30:00Z", LastUpdatedAt: "2025-11-25T10:40:00Z", TTLMs: new(int64(60000)), PollIntervalMs: new(int64(500))}
	}
	unlimited := task(mcp.TaskCompleted)
	unlimited.TTLMs, unlimited.PollIntervalMs, unlimited.ToolFailed = nil, nil, true
	done := &mcp.TaskState{Task: unlimited, Result: json.RawMessage(`{"content":[],"isError":true,"big":12345678901234567890}`)}
	asking := &mcp.TaskState{Task: task(mcp.TaskInputRequired), InputRequests: map[string]*mcp.InputRequest{
		"raw":   {Key: "raw", Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}},"x":1.0}`)},
		"typed": {Key: "typed", Method: mcp.MethodElicit, Params: &mcp.ElicitParams{Message: "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}}
	failed := &mcp.TaskState{Task: task(mcp.TaskFailed), Error: jsonrpc.Errorf(-32603, "it broke")}
	for _, tt := range []struct {
		name, method       string
		result             any
		session, stateless string
	}{
		{
			"created", mcp.MethodCallTool, &mcp.CreateTaskResult{Task: task(mcp.TaskWorking)},
			`{"task":{"taskId":"t1","status":"working",` + dates + `,"ttl":60000,"pollInterval":500}}`,
			`{"resultType":"task","taskId":"t1","status":"working",` + dates + `,"ttlMs":60000,"pollIntervalMs":500}`,
		},
		{
			"created, raw", mcp.MethodCallTool, json.RawMessage(`{"resultType":"task","taskId":"t1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"z":1.0}`),
			`{"task":{"taskId":"t1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null},"z":1.0}`,
			`{"resultType":"task","taskId":"t1","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"z":1.0}`,
		},
		{
			"a failed tool", mcp.MethodGetTask, done,
			`{"taskId":"t1","status":"failed",` + dates + `,"ttl":null}`,
			`{"resultType":"complete","taskId":"t1","status":"completed",` + dates + `,"ttlMs":null,"result":{"content":[],"isError":true,"big":12345678901234567890,"resultType":"complete"}}`,
		},
		{
			"asking", mcp.MethodGetTask, asking,
			`{"taskId":"t1","status":"input_required",` + dates + `,"ttl":60000,"pollInterval":500}`,
			`{"resultType":"complete","taskId":"t1","status":"input_required",` + dates + `,"ttlMs":60000,"pollIntervalMs":500,"inputRequests":{` +
				`"raw":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"x":1.0,"mode":"form"}},` +
				`"typed":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`,
		},
		{
			"failed", mcp.MethodGetTask, failed,
			`{"taskId":"t1","status":"failed",` + dates + `,"ttl":60000,"pollInterval":500}`,
			`{"resultType":"complete","taskId":"t1","status":"failed",` + dates + `,"ttlMs":60000,"pollIntervalMs":500,"error":{"code":-32603,"message":"it broke"}}`,
		},
		{"cancelled", mcp.MethodCancelTask, &mcp.TaskState{Task: task(mcp.TaskCancelled)}, `{"taskId":"t1","status":"cancelled",` + dates + `,"ttl":60000,"pollInterval":500}`, `{"resultType":"complete"}`},
		{
			"list", mcp.MethodListTasks, &mcp.ListTasksResult{Tasks: []*mcp.Task{&unlimited, nil}, NextCursor: new("n")},
			`{"tasks":[{"taskId":"t1","status":"failed",` + dates + `,"ttl":null}],"nextCursor":"n"}`, "",
		},
		{"empty list", mcp.MethodListTasks, &mcp.ListTasksResult{}, `{"tasks":[]}`, ""},
	} {
		for revised, want := range map[mcp.Revision]string{mcp.Revision20251125: tt.session, mcp.Revision20260728: tt.stateless} {
			if want == "" {
				continue
			}
			f := form{facts: revision.Of(revised)}
			if f.facts.Stateless {
				f.by = new(naming).brief(&mcp.Implementation{Name: "s", Version: "1"})
			}
			shaped, err := f.result(tt.method, tt.result)
			if err != nil {
				t.Fatalf("%s, %s: %v", tt.name, revised, err)
			}
			got, err := wire.Append(nil, shaped)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.ReplaceAll(string(got), `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`, "")
			said = strings.NewReplacer("{,", "{", ",,", ",", ",}", "}").Replace(said)
			if !sameJSON(t, said, want) {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", tt.name, revised, said, want)
			}
		}
	}
}

// sameJSON compares two documents, in whose objects the order does not count, by
// the text of their values.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := wire.Canonical([]byte(a))
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	y, err := wire.Canonical([]byte(b))
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return string(x) == string(y)
}
