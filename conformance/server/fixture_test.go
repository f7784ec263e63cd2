package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// bothWires are the modes that the suite tests by the name of each tool.
func bothWires() []mcptest.Mode {
	return []mcptest.Mode{
		{Revision: mcp.Revision20251125, Transport: "memory"},
		{Revision: mcp.Revision20260728, Transport: "memory"},
	}
}

func handler() mcp.Handler { return newFixture(mcptest.Quiet()) }

// suiteAnswers answers as the driver of the suite does.
func suiteAnswers() *client.Options {
	return &client.Options{
		Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			content, ok := forms[p.Message]
			if !ok {
				return nil, fmt.Errorf("unexpected question %q", p.Message)
			}
			return &mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(content)}, nil
		},
		Sample: func(context.Context, *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{
				Role: mcp.RoleAssistant, Content: mcp.OneOrMany{mcp.Text("This is a test response from the client")}, Model: "test-model", StopReason: "endTurn",
			}, nil
		},
		Roots: []*mcp.Root{{URI: "file:///test/root", Name: "Test Root"}},
	}
}

// forms are the filled-in forms by the message of the question.
var forms = map[string]string{
	"Who is it?":                           `{"username":"testuser","email":"test@example.com"}`,
	"Who are you?":                         `{"username":"testuser","email":"test@example.com"}`,
	"Please check these details.":          `{"name":"Jane Smith","age":25,"score":88,"status":"inactive","verified":false}`,
	"Please choose.":                       `{"untitledSingle":"option1","titledSingle":"value1","legacyEnum":"opt1","untitledMulti":["option1","option2"],"titledMulti":["value1","value2"]}`,
	"What is your name?":                   `{"name":"Alice"}`,
	"Please confirm.":                      `{"ok":true}`,
	"Step 1: What is your name?":           `{"name":"Alice"}`,
	"Step 2: What is your favorite color?": `{"color":"blue"}`,
	"What context should the prompt use?":  `{"context":"testing"}`,
}

func TestTextTools(t *testing.T) {
	tests := []struct {
		tool string
		args string
		want string // part of the text
	}{
		{"test_simple_text", "", "This is a simple text response for testing."},
		{"test_tool_with_progress", "", "three times"},
		{"test_tool_with_logging", "", "Three messages"},
		{"test_logging_tool", "", "Logged"},
		{"test_reconnection", "", "after the stream"},
		{"test_x_mcp_header", `{"region":"us-west1","level":2}`, "us-west1"},
		{"json_schema_2020_12_tool", `{"name":"Ann","contactMethod":"phone","phone":"1"}`, "fit"},
		{"test_sampling", `{"prompt":"Hello"}`, "LLM response: This is a test response"},
		{"test_elicitation", `{"message":"Who is it?"}`, "testuser"},
		{"test_streaming_elicitation", "", "testuser"},
		{"test_elicitation_sep1034_defaults", "", "Jane Smith"},
		{"test_elicitation_sep1330_enums", "", `"legacyEnum":"opt1"`},
		{"test_missing_capability", "", "This is a test response"},
		{"test_input_required_result_elicitation", "", "Hello, Alice!"},
		{"test_input_required_result_sampling", "", "This is a test response"},
		{"test_input_required_result_list_roots", "", "1 roots"},
		{"test_input_required_result_request_state", "", "state-ok (true)"},
		{"test_input_required_result_tampered_state", "", "state-ok (true)"},
		{"test_input_required_result_multiple_inputs", "", "This is a test response from the client, Alice: there are 1 roots."},
		{"test_input_required_result_multi_round", "", "Alice likes blue."},
		{"test_input_required_result_capabilities", "", "All 2 questions"},
	}
	mcptest.RunModes(t, bothWires(), handler, suiteAnswers, func(t *testing.T, c *client.Client) {
		for _, test := range tests {
			var args any
			if test.args != "" {
				args = json.RawMessage(test.args)
			}
			got, err := client.Call[string](t.Context(), c, test.tool, args)
			if err != nil || !strings.Contains(got, test.want) {
				t.Errorf("%s: %q, %v; want %q", test.tool, got, err, test.want)
			}
		}
	})
}

func TestContentTools(t *testing.T) {
	tests := map[string]string{
		"test_image_content":          "*mcp.ImageContent",
		"test_audio_content":          "*mcp.AudioContent",
		"test_embedded_resource":      "*mcp.EmbeddedResource",
		"test_multiple_content_types": "*mcp.TextContent *mcp.ImageContent *mcp.EmbeddedResource",
	}
	mcptest.RunModes(t, bothWires(), handler, nil, func(t *testing.T, c *client.Client) {
		for tool, want := range tests {
			r, err := c.CallTool(t.Context(), tool, nil)
			if err != nil {
				t.Errorf("%s: %v", tool, err)
				continue
			}
			if got := kinds(r.Content); got != want || r.IsError {
				t.Errorf("%s: %s, want %s", tool, got, want)
			}
		}
		r, err := c.CallTool(t.Context(), "test_error_handling", nil)
		if err != nil || !r.IsError || kinds(r.Content) != "*mcp.TextContent" {
			t.Errorf("test_error_handling: %+v, %v", r, err)
		}
	})
}

func kinds(blocks mcp.Contents) string {
	var list []string
	for _, b := range blocks {
		list = append(list, fmt.Sprintf("%T", b))
	}
	return strings.Join(list, " ")
}

// The suite counts what arrives before the result, so nothing may be delayed or
// lost.
func TestReports(t *testing.T) {
	logged := make(chan any, 100)
	opts := func() *client.Options {
		return &client.Options{LogLevel: mcp.LevelDebug, Log: func(_ context.Context, p *mcp.LogParams) { logged <- p.Data }}
	}
	mcptest.RunModes(t, bothWires(), handler, opts, func(t *testing.T, c *client.Client) {
		var progress []float64 // needs no lock: there are no notifications after the call has returned
		_, err := c.CallTool(t.Context(), "test_tool_with_progress", nil, client.WithProgress(func(p *mcp.ProgressParams) {
			progress = append(progress, p.Progress)
		}))
		if err != nil || !slices.Equal(progress, []float64{0, 50, 100}) {
			t.Errorf("progress: %v, %v", progress, err)
		}
		if _, err := c.CallTool(t.Context(), "test_tool_with_logging", nil); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if got := receive(t, logged); got != want {
				t.Errorf("logged %v, want %q", got, want)
			}
		}
	})
}

// receive fails the test when nothing comes.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	select {
	case v := <-from:
		return v
	case <-ctx.Done():
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// Spec: 2026-07-28 basic#error-codes.
func TestMissingCapability(t *testing.T) {
	c := mcptest.Connect(t, handler(), mcptest.Mode{Revision: mcp.Revision20260728, Transport: "memory"}, nil)
	_, err := c.CallTool(t.Context(), "test_missing_capability", nil)
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != mcp.CodeMissingCapability {
		t.Errorf("a client without sampling got %v", err)
	}
}

// An enumeration in the old style has titles that no struct tag can express.
func TestChoices(t *testing.T) {
	var form json.RawMessage
	opts := func() *client.Options {
		return &client.Options{Elicit: func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			form = p.RequestedSchema
			return &mcp.ElicitResult{Action: mcp.ActionDecline}, nil
		}}
	}
	mcptest.RunModes(t, bothWires(), handler, opts, func(t *testing.T, c *client.Client) {
		if _, err := c.CallTool(t.Context(), "test_elicitation_sep1330_enums", nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(form), `"enumNames"`) || !strings.Contains(string(form), `"anyOf"`) {
			t.Errorf("the form lost something: %s", form)
		}
	})
}

func TestLists(t *testing.T) {
	mcptest.RunModes(t, bothWires(), handler, nil, func(t *testing.T, c *client.Client) {
		tools, err := client.Collect(c.Tools(t.Context()))
		if err != nil || len(tools) < 20 || tools[0].Name != "test_simple_text" {
			t.Fatalf("%d tools, %v", len(tools), err)
		}
		for _, tool := range tools {
			if tool.Description == "" || tool.InputSchema == nil {
				t.Errorf("%s has no description or schema", tool.Name)
			}
			if tool.Name == "test_x_mcp_header" && !strings.Contains(string(tool.InputSchema), `"x-mcp-header":"Region"`) {
				t.Errorf("%s: %s", tool.Name, tool.InputSchema)
			}
			if tool.Name == "json_schema_2020_12_tool" && !strings.Contains(string(tool.InputSchema), `"$anchor"`) {
				t.Errorf("%s: %s", tool.Name, tool.InputSchema)
			}
		}
		prompts, err := client.Collect(c.Prompts(t.Context()))
		if err != nil || len(prompts) != 5 {
			t.Errorf("%d prompts, %v", len(prompts), err)
		}
		resources, err := client.Collect(c.Resources(t.Context()))
		if err != nil || len(resources) != 5 { // two are files of a skill
			t.Errorf("%d resources, %v", len(resources), err)
		}
	})
}

func TestPrompts(t *testing.T) {
	tests := []struct {
		prompt string
		args   map[string]string
		want   string // part of the JSON
	}{
		{"test_simple_prompt", nil, "simple prompt"},
		{"test_prompt_with_arguments", map[string]string{"arg1": "testValue1", "arg2": "testValue2"}, "arg1='testValue1', arg2='testValue2'"},
		{"test_prompt_with_embedded_resource", map[string]string{"resourceUri": "test://x"}, `"uri":"test://x"`},
		{"test_prompt_with_image", nil, `"image/png"`},
		{"test_input_required_result_prompt", nil, "Use this context: testing"},
	}
	mcptest.RunModes(t, bothWires(), handler, suiteAnswers, func(t *testing.T, c *client.Client) {
		for _, test := range tests {
			r, err := c.GetPrompt(t.Context(), test.prompt, test.args)
			if err != nil {
				t.Errorf("%s: %v", test.prompt, err)
				continue
			}
			if got, err := json.Marshal(r); err != nil || !strings.Contains(string(got), test.want) {
				t.Errorf("%s: %s, %v; want %q", test.prompt, got, err, test.want)
			}
		}
		values, err := c.CompletePrompt(t.Context(), "test_prompt_with_arguments", "arg1", "test", nil)
		if err != nil || len(values.Values) != 2 {
			t.Errorf("completion: %+v, %v", values, err)
		}
	})
}

func TestResources(t *testing.T) {
	tests := map[string]string{
		"test://static-text":       `"text":"This is the content of the static text resource."`,
		"test://static-binary":     `"blob":"iVBOR`,
		"test://watched-resource":  `"text":"Watched`,
		"test://template/123/data": `Data for ID: 123`,
	}
	mcptest.RunModes(t, bothWires(), handler, nil, func(t *testing.T, c *client.Client) {
		for uri, want := range tests {
			r, err := c.ReadResource(t.Context(), uri)
			if err != nil {
				t.Errorf("%s: %v", uri, err)
				continue
			}
			if got, err := json.Marshal(r); err != nil || !strings.Contains(string(got), want) || r.Contents[0].URI != uri {
				t.Errorf("%s: %s, %v; want %q", uri, got, err, want)
			}
		}
	})
}

func TestSwitches(t *testing.T) {
	tests := map[string]struct {
		filter mcp.SubscriptionFilter
		kind   mcp.ChangeKind
	}{
		"test_trigger_tool_change":   {mcp.SubscriptionFilter{ToolsListChanged: true}, mcp.ToolsChanged},
		"test_trigger_prompt_change": {mcp.SubscriptionFilter{PromptsListChanged: true}, mcp.PromptsChanged},
	}
	mcptest.RunModes(t, bothWires(), handler, nil, func(t *testing.T, c *client.Client) {
		for tool, test := range tests {
			events := make(chan client.Event, 10)
			s, err := c.Listen(t.Context(), test.filter, func(_ context.Context, e client.Event) { events <- e })
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // on, and off again
				if _, err := c.CallTool(t.Context(), tool, nil); err != nil {
					t.Fatal(err)
				}
				if e := receive(t, events); e.Change.Kind != test.kind {
					t.Errorf("%s: %+v", tool, e)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
