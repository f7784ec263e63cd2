package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/mcp"
)

// Spec: 2025-11-25 basic/utilities/tasks#task.
// A client sees the tasks of a session in the form that all tasks of this module have.
func TestTasksAreRaised(t *testing.T) {
	for _, tt := range []struct{ name, method, params, result, want string }{
		{
			"created", mcp.MethodCallTool, `{"name":"t","task":{}}`,
			`{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":60000,"pollInterval":5000,"x":1.0},"_meta":{"a/b":1},"y":1e400}`,
			`{"resultType":"task","taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":60000,"pollIntervalMs":5000,"x":1.0,"_meta":{"a/b":1},"y":1e400}`,
		},
		{"answered at once", mcp.MethodCallTool, `{"name":"t","task":{}}`, `{"content":[]}`, `{"content":[]}`},
		{"not asked for", mcp.MethodCallTool, `{"name":"t"}`, `{"content":[],"task":{"taskId":"t"}}`, `{"content":[],"task":{"taskId":"t"}}`},
		{"not a task", mcp.MethodCallTool, `{"task":{}}`, `{"task":{}}`, `{"task":{}}`},
		{"no object", mcp.MethodCallTool, `{"task":{}}`, `7`, `7`},
		{"state", mcp.MethodGetTask, `{"taskId":"t"}`, `{"taskId":"t","ttl":null,"pollInterval":1500.0}`, `{"taskId":"t","ttlMs":null,"pollIntervalMs":1500}`},
		{"numbers", mcp.MethodCancelTask, `{"taskId":"t"}`, `{"ttl":6e4,"pollInterval":0.5}`, `{"ttlMs":60000,"pollIntervalMs":1}`},
		{"no numbers", mcp.MethodGetTask, `{"taskId":"t"}`, `{"ttl":"x","pollInterval":1e300}`, `{"ttlMs":"x","pollIntervalMs":1e300}`},
		{
			"list", mcp.MethodListTasks, `{}`, `{"tasks":[{"taskId":"t","ttl":1},7,{"taskId":"u","pollInterval":2}],"nextCursor":"n"}`,
			`{"tasks":[{"taskId":"t","ttlMs":1},7,{"taskId":"u","pollIntervalMs":2}],"nextCursor":"n"}`,
		},
		{"no list", mcp.MethodListTasks, `{}`, `{"tasks":7}`, `{"tasks":7}`},
		{"result", mcp.MethodTaskResult, `{"taskId":"t"}`, `{"content":[],"ttl":1}`, `{"content":[],"ttl":1}`},
		{"another method", mcp.MethodListTools, `{"task":{}}`, `{"tools":[],"ttl":1,"task":{"taskId":"t"}}`, `{"tools":[],"ttl":1,"task":{"taskId":"t"}}`},
		{"unknown", "com.example/x", `{"task":{}}`, `{"task":{"taskId":"t"}}`, `{"task":{"taskId":"t"}}`},
	} {
		c := &SessionClient{tasks: true}
		c.facts.Store(revision.Of(mcp.Revision20251125))
		got := c.raise(&Outgoing{Method: tt.method, Params: json.RawMessage(tt.params)}, json.RawMessage(tt.result))
		if !sameJSON(t, string(got), tt.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
		c.facts.Store(revision.Of(mcp.Revision20250618))
		if got := c.raise(&Outgoing{Method: tt.method, Params: json.RawMessage(tt.params)}, json.RawMessage(tt.result)); string(got) != tt.result {
			t.Errorf("%s: without tasks in the revision, %s became %s", tt.name, tt.result, got)
		}
	}
}
