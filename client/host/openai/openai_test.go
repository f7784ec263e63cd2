package openai_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/internal/sample"
	"github.com/parley-mcp/parley/client/host/openai"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// The golden requests have every kind of tool, call and result. The interoperability tests
// have the vendor's own types read them.
func TestRequest(t *testing.T) {
	tools, unfit := openai.Tools(sample.Tools())
	if len(unfit) != 1 || unfit[0].Tool.Name != "shop.list" || unfit[0].Reason == "" {
		t.Errorf("unfit are %+v", unfit)
	}
	input := []openai.Item{openai.User("What is there?")}
	for _, c := range sample.Calls() {
		input = append(input, openai.CallItem(c))
	}
	sample.Golden(t, "responses.json", map[string]any{"model": "gpt-5", "input": append(input, openai.Results(sample.Answers())...), "tools": tools})
}

func TestChatRequest(t *testing.T) {
	tools, unfit := openai.ChatTools(sample.Tools())
	if len(unfit) != 1 || unfit[0].Tool.Name != "shop.list" {
		t.Errorf("unfit are %+v", unfit)
	}
	calls := openai.ChatMessage{Role: "assistant"}
	for _, c := range sample.Calls() {
		calls.ToolCalls = append(calls.ToolCalls, openai.ChatCallFor(c))
	}
	messages := append([]openai.ChatMessage{openai.ChatUser("What is there?"), calls}, openai.ChatResults(sample.Answers())...)
	sample.Golden(t, "chat.json", map[string]any{"model": "gpt-5", "messages": messages, "tools": tools})
}

var calls = []host.Call{
	{ID: "call_1", Name: "files__read", Arguments: json.RawMessage(`{"path": "a", "n": 9007199254740993}`)},
	{ID: "call_2", Name: "files__list_K5ZQX7BA", Arguments: json.RawMessage(``)},
	{ID: "call_3", Name: "files__read", Arguments: json.RawMessage(`{"path": `)},
}

// What the API has answered can be sent back as it came, and has the calls.
func TestResponse(t *testing.T) {
	doc, err := os.ReadFile("testdata/response.json")
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Output json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(doc, &whole); err != nil {
		t.Fatal(err)
	}
	var items []openai.Item
	if err := json.Unmarshal(whole.Output, &items); err != nil {
		t.Fatal(err)
	}
	if got := openai.Calls(items); !reflect.DeepEqual(got, calls) {
		t.Errorf("the calls are %s", got)
	}
	if got := openai.Text(items); got != "I will look." {
		t.Errorf("the text is %q", got)
	}
	back, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, back, whole.Output)
}

func TestChatResponse(t *testing.T) {
	doc, err := os.ReadFile("testdata/completion.json")
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(doc, &whole); err != nil {
		t.Fatal(err)
	}
	var m openai.ChatMessage
	if err := json.Unmarshal(whole.Choices[0].Message, &m); err != nil {
		t.Fatal(err)
	}
	if got := m.Calls(); !reflect.DeepEqual(got, calls) {
		t.Errorf("the calls are %s", got)
	}
	if m.Text() != "" {
		t.Errorf("the text is %q", m.Text())
	}
	back, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, back, whole.Choices[0].Message)
}

func equal(t *testing.T, got, want []byte) {
	t.Helper()
	a, err := wire.Canonical(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := wire.Canonical(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

// Results survive the way there and back, where the APIs have a form for them.
func TestResultsThereAndBack(t *testing.T) {
	pdf := &mcp.EmbeddedResource{Resource: mcp.BlobResource("file:a%20b.pdf", "application/pdf", []byte("%PDF"))}
	for _, r := range []*mcp.CallToolResult{
		{Content: mcp.Contents{mcp.Text("a")}},
		{Content: mcp.Contents{mcp.Text("a"), mcp.Text("b")}},
		{Content: mcp.Contents{&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/webp"}}},
		{Content: mcp.Contents{pdf}},
	} {
		doc, err := json.Marshal(openai.Result("1", r))
		if err != nil {
			t.Fatal(err)
		}
		var it openai.Item
		if err := json.Unmarshal(doc, &it); err != nil {
			t.Fatal(err)
		}
		back, err := it.MCP()
		if err != nil {
			t.Fatal(err)
		}
		if r.Content[0] == mcp.Content(pdf) {
			back.Content = back.Content[1:] // before it stands where it comes from
		}
		if !reflect.DeepEqual(back, r) {
			t.Errorf("%s is %+v, want %+v", doc, back, r)
		}
	}
	one := &mcp.CallToolResult{Content: mcp.Contents{mcp.Text("a")}}
	doc, err := json.Marshal(openai.ChatResult("1", one))
	if err != nil || string(doc) != `{"role":"tool","content":"a","tool_call_id":"1"}` {
		t.Errorf("%s, %v", doc, err)
	}
	if back, err := openai.ChatResult("1", one).MCP(); err != nil || !reflect.DeepEqual(back, one) {
		t.Errorf("%+v, %v", back, err)
	}
}

// On the way there and back a failure keeps its text and loses IsError. It cannot be told
// from the result of a tool that succeeded and whose text begins in the same way; a log of
// errors, for example.
func TestFailureThereAndBack(t *testing.T) {
	const said = "Error: no such file"
	failed := mcp.ToolError("no such file")
	success := &mcp.CallToolResult{Content: mcp.Contents{mcp.Text(said)}}
	for name, convert := range map[string]func(*mcp.CallToolResult) (any, func() (*mcp.CallToolResult, error)){
		"responses": func(r *mcp.CallToolResult) (any, func() (*mcp.CallToolResult, error)) {
			it := openai.Result("1", r)
			return it, it.MCP
		},
		"chat": func(r *mcp.CallToolResult) (any, func() (*mcp.CallToolResult, error)) {
			m := openai.ChatResult("1", r)
			return m, m.MCP
		},
	} {
		var docs []string
		for _, r := range []*mcp.CallToolResult{failed, success} {
			form, back := convert(r)
			doc, err := json.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, string(doc))
			if got, err := back(); err != nil || !reflect.DeepEqual(got, success) {
				t.Errorf("%s: %s is %+v, %v; want the text without IsError", name, doc, got, err)
			}
		}
		if docs[0] != docs[1] {
			t.Errorf("%s: a failure is %s and a success %s: they can be told apart, so IsError need not be lost", name, docs[0], docs[1])
		}
	}
}

// Outputs of other programs, with forms that this package does not make.
func TestForeignResults(t *testing.T) {
	for doc, want := range map[string]string{
		`[]`:                                  `[]`,
		`[{"type":"output_text","text":"a"}]`: `[{"type":"text","text":"a"}]`,
		`[{"type":"input_image","image_url":"https://example.com/a.png"}]`: `[{"type":"resource_link","uri":"https://example.com/a.png","name":"image"}]`,
		`[{"type":"input_file","file_url":"https://example.com/a.pdf"}]`:   `[{"type":"resource_link","uri":"https://example.com/a.pdf","name":"file"}]`,
		`[{"type":"input_file","file_data":"AQI="}]`:                       `[{"type":"resource","resource":{"uri":"file:","mimeType":"application/octet-stream","blob":"AQI="}}]`,
		`[{"type":"input_image","file_id":"f"}]`:                           `[{"type":"text","text":"{\"type\":\"input_image\",\"file_id\":\"f\"}"}]`,
		`[{"type":"hologram","depth":1.0}]`:                                `[{"type":"text","text":"{\"type\":\"hologram\",\"depth\":1.0}"}]`,
	} {
		var it openai.Item
		if err := json.Unmarshal([]byte(`{"type":"function_call_output","call_id":"1","output":`+doc+`}`), &it); err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		r, err := it.MCP()
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, []byte(`{"content":`+want+`}`))
	}
	for _, url := range []string{"data:image/png,x", "data:image/png;base64,!", "data:"} {
		it := openai.Item{Type: "function_call_output", Output: openai.Content{{Type: "input_image", ImageURL: url}}}
		if r, err := it.MCP(); err == nil {
			t.Errorf("%s is %+v", url, r)
		}
	}
	if _, err := (openai.Item{Type: "message"}).MCP(); err == nil {
		t.Error("a message was taken for a result")
	}
	if _, err := openai.ChatUser("a").MCP(); err == nil {
		t.Error("a message of the user was taken for a result")
	}
}

func TestForeignTools(t *testing.T) {
	chat, _ := openai.ChatTools(sample.Tools())
	fit, _ := openai.Tools(sample.Tools())
	for i, f := range []interface{ MCP() (*mcp.Tool, error) }{chat[0], fit[0]} {
		tool, err := f.MCP()
		if err != nil || tool.Name != "files__read" || tool.Description != "Reads a file." || string(tool.InputSchema) != string(sample.Tools()[0].InputSchema) {
			t.Errorf("%d: %+v, %v", i, tool, err)
		}
	}
	if tool, err := (openai.Tool{Type: "function", Name: "a", Parameters: json.RawMessage("null")}).MCP(); err != nil || !strings.Contains(string(tool.InputSchema), `"object"`) {
		t.Errorf("%+v, %v", tool, err)
	}
	if _, err := (openai.Tool{Type: "web_search"}).MCP(); err == nil {
		t.Error("a tool that the vendor runs was taken")
	}
}

// Whatever is in an item or a message, it is sent back as it came.
func FuzzItems(f *testing.F) {
	for _, file := range []string{"response.json", "responses.json", "chat.json"} {
		doc, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(doc, &m); err != nil {
			f.Fatal(err)
		}
		for _, member := range []string{"input", "output", "messages"} {
			f.Add([]byte(m[member]))
		}
	}
	f.Add([]byte(`[{"role":"tool","content":null,"x":1.0},{"content":[{"type":"text","x":1}]},{"tool_calls":[{"type":"custom","custom":{}}]}]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var items []openai.Item
		if json.Unmarshal(doc, &items) == nil && items != nil {
			for i := range items {
				_, _ = items[i].MCP()
			}
			same(t, doc, items)
		}
		var messages []openai.ChatMessage
		if json.Unmarshal(doc, &messages) == nil && messages != nil {
			for i := range messages {
				_, _ = messages[i].MCP()
			}
			same(t, doc, messages)
		}
	})
}

func same(t *testing.T, doc []byte, v any) {
	t.Helper()
	back, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "null") { // in place of an item
		equal(t, back, doc)
	}
}
