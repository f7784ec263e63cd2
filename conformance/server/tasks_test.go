package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// The tools with which the suite tests tasks end as it expects, whoever follows them.
func TestTaskFixtures(t *testing.T) {
	answers := &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		content := map[bool]string{true: `{"confirm":true}`, false: forms[p.Message]}[strings.HasPrefix(p.Message, "Delete ")]
		if content == "" {
			content = `{"color":"blue"}`
		}
		return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(content)}, nil
	}}
	for _, mode := range bothWires() {
		t.Run(mode.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { callTasks(t, mode, answers) })
		})
	}
}

func callTasks(t *testing.T, mode mcptest.Mode, answers *client.Options) {
	s := newFixture(mcptest.Quiet())
	defer func() { _ = s.Close(t.Context()) }() // the calls that failed say why
	c := mcptest.Connect(t, s, mode, answers)
	for tool, test := range map[string]struct{ args, want string }{
		"greet":               {`{"name":"Ann"}`, "Hello, Ann!"},
		"slow_compute":        {`{"seconds":0,"label":"x"}`, `Computed "x"`},
		"failing_job":         {`{}`, "the job failed"},
		"confirm_delete":      {`{"filename":"a.txt"}`, "a.txt was deleted."},
		"multi_input":         {`{}`, "Alice likes blue."},
		"test_tool_with_task": {`{}`, "Hello, Alice!"},
	} {
		r, err := c.CallTool(t.Context(), tool, json.RawMessage(test.args))
		if err != nil {
			t.Errorf("%s: %v", tool, err)
			continue
		}
		text, _ := r.Content[0].(*mcp.TextContent)
		if text == nil || !strings.Contains(text.Text, test.want) || r.IsError != (tool == "failing_job") {
			t.Errorf("%s returned %+v, want %q", tool, r.Content[0], test.want)
		}
	}
	if r, err := c.CallTool(t.Context(), "protocol_error_job", nil); err == nil || !strings.Contains(err.Error(), "error of the protocol") {
		t.Errorf("protocol_error_job: %+v, %v", r, err)
	}
}
