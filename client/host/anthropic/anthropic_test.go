package anthropic_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/client/host/anthropic"
	"github.com/parley-mcp/parley/client/host/internal/sample"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// request is what a program sends.
type request struct {
	Model     string              `json:"model"`
	MaxTokens int                 `json:"max_tokens"`
	Messages  []anthropic.Message `json:"messages"`
	Tools     []anthropic.Tool    `json:"tools"`
}

// The golden request has every kind of tool, call and result. The interoperability tests
// have the vendor's own types read it.
func TestRequest(t *testing.T) {
	tools, unfit := anthropic.Tools(sample.Tools())
	if len(unfit) != 1 || unfit[0].Tool.Name != "shop.list" || unfit[0].Reason == "" {
		t.Errorf("unfit are %+v", unfit)
	}
	calls := anthropic.Message{Role: "assistant", Content: anthropic.Content{{Type: "text", Text: "Let me see."}}}
	for _, c := range sample.Calls() {
		calls.Content = append(calls.Content, anthropic.Use(c))
	}
	sample.Golden(t, "request.json", request{
		Model: "claude-opus-4-8", MaxTokens: 1024, Tools: tools,
		Messages: []anthropic.Message{anthropic.User("What is there?"), calls, anthropic.Results(sample.Answers())},
	})
}

// What the API has answered can be sent back as it came, and has the calls.
func TestResponse(t *testing.T) {
	doc, err := os.ReadFile("testdata/response.json")
	if err != nil {
		t.Fatal(err)
	}
	var m anthropic.Message
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatal(err)
	}
	want := []host.Call{
		{ID: "toolu_01", Name: "files__read", Arguments: json.RawMessage(`{"path": "a", "n": 9007199254740993}`)},
		{ID: "toolu_02", Name: "files__list_K5ZQX7BA", Arguments: json.RawMessage(`{}`)},
	}
	if got := m.Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("the calls are %s", got)
	}
	if m.Role != "assistant" || m.Text() != "I will look." {
		t.Errorf("%+v", m)
	}
	back, err := json.Marshal(m.Content)
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(doc, &whole); err != nil {
		t.Fatal(err)
	}
	equal(t, back, whole.Content)
	m.Content[1].Text = "I have looked."
	if back, err = json.Marshal(m.Content[1]); err != nil || string(back) != `{"type":"text","text":"I have looked.","citations":null}` {
		t.Errorf("a block that was changed is %s, %v", back, err)
	}
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

// Results survive the way there and back, where the API has a form for them.
func TestResultsThereAndBack(t *testing.T) {
	pdf := &mcp.EmbeddedResource{Resource: mcp.BlobResource("document:a%20b.pdf", "application/pdf", []byte("%PDF"))}
	for _, r := range []*mcp.CallToolResult{
		{Content: mcp.Contents{mcp.Text("a"), mcp.Text("b")}},
		{Content: mcp.Contents{mcp.Text("no")}, IsError: true},
		{Content: mcp.Contents{&mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/webp"}}},
		{Content: mcp.Contents{pdf}},
	} {
		doc, err := json.Marshal(anthropic.Result("1", r))
		if err != nil {
			t.Fatal(err)
		}
		var b anthropic.Block
		if err := json.Unmarshal(doc, &b); err != nil {
			t.Fatal(err)
		}
		back, err := b.MCP()
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
}

// Results of other programs, with forms that this package does not make.
func TestForeignResults(t *testing.T) {
	for doc, want := range map[string]string{
		`{"type":"tool_result","tool_use_id":"1"}`:                                                                                                      `{"content":[]}`,
		`{"type":"tool_result","tool_use_id":"1","content":"text","is_error":true}`:                                                                     `{"content":[{"type":"text","text":"text"}],"isError":true}`,
		`{"type":"tool_result","tool_use_id":"1","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}`:               `{"content":[{"type":"resource_link","uri":"https://example.com/a.png","name":"image"}]}`,
		`{"type":"tool_result","tool_use_id":"1","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a"}}]}`:        `{"content":[{"type":"resource","resource":{"uri":"document:","mimeType":"text/plain","text":"a"}}]}`,
		`{"type":"tool_result","tool_use_id":"1","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}]}`: `{"content":[{"type":"text","text":"{\"type\":\"search_result\",\"source\":\"s\",\"title\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}"}]}`,
	} {
		var b anthropic.Block
		if err := json.Unmarshal([]byte(doc), &b); err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		r, err := b.MCP()
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, []byte(want))
	}
	for _, b := range []anthropic.Block{
		{Type: "text"},
		{Type: "tool_result", Content: anthropic.Content{{Type: "image", Source: &anthropic.Source{Type: "base64", Data: "!"}}}},
	} {
		if r, err := b.MCP(); err == nil {
			t.Errorf("%+v is %+v", b, r)
		}
	}
}

func TestForeignTools(t *testing.T) {
	fit, _ := anthropic.Tools(sample.Tools())
	tool, err := fit[0].MCP()
	if err != nil || tool.Name != "files__read" || tool.Description != "Reads a file." || string(tool.InputSchema) != string(sample.Tools()[0].InputSchema) {
		t.Errorf("%+v, %v", tool, err)
	}
	if tool, err := (anthropic.Tool{Name: "a"}).MCP(); err != nil || !strings.Contains(string(tool.InputSchema), `"object"`) {
		t.Errorf("%+v, %v", tool, err)
	}
	if _, err := (anthropic.Tool{Name: "web_search", Type: "web_search_20250305"}).MCP(); err == nil {
		t.Error("a tool that the vendor runs was taken")
	}
}

// Whatever is in a message, it is sent back as it came.
func FuzzMessage(f *testing.F) {
	for _, file := range []string{"request.json", "response.json"} {
		doc, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		var m struct {
			Content  json.RawMessage   `json:"content"`
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(doc, &m); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(m.Content))
		f.Add([]byte(`[{"type":"tool_result","content":"a","x":1.0},{"type":"image","source":{"type":"file","file_id":"a"}},{}]`))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var c anthropic.Content
		if json.Unmarshal(doc, &c) != nil {
			return
		}
		for i := range c {
			_, _ = c[i].MCP()
		}
		back, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var again anthropic.Content
		if err := json.Unmarshal(back, &again); err != nil {
			t.Fatalf("%s has become %s: %v", doc, back, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(back) {
			t.Fatalf("%s has become %s, and then %s", doc, back, twice)
		}
		if doc = []byte(strings.TrimSpace(string(doc))); doc[0] == '[' {
			equal(t, back, doc)
		}
	})
}
