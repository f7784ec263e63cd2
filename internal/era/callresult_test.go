package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// results are results of tools, with and without each of their members.
func results() []*mcp.CallToolResult {
	meta := mcp.Meta{"com.example/a": json.RawMessage(`[ 1 ]`)}
	contents := []mcp.Contents{
		nil,
		{},
		{mcp.Text("")},
		{mcp.Text("a \"text\"\n\\ with é, \x00, \u2028 and <tags>")},
		{mcp.Text("not \xff UTF-8")},
		{(*mcp.TextContent)(nil)},
		{&mcp.TextContent{Text: "t", Meta: meta}, &mcp.TextContent{Text: "t", Annotations: &mcp.Annotations{LastModified: "2025-01-01T00:00:00Z"}}},
		{mcp.Text("first"), &mcp.ImageContent{Data: []byte("data"), MIMEType: "image/png"}, &mcp.AudioContent{MIMEType: "audio/wav"}},
		{&mcp.ResourceLink{URI: "a://b", Name: "b"}, &mcp.EmbeddedResource{Resource: mcp.BlobResource("a://b", "", []byte{1})}},
	}
	var all []*mcp.CallToolResult
	for _, content := range contents {
		for _, structured := range []string{"", `{}`, "{ \"a\":\n1 }", `[1]`, `"x"`} {
			for _, f := range []mcp.ResultFields{{}, {Meta: meta}, {Meta: mcp.Meta{}}, {ResultType: "com.example/other"}} {
				r := &mcp.CallToolResult{ResultFields: f, Content: content, IsError: len(all)%3 == 0}
				if structured != "" {
					r.StructuredContent = json.RawMessage(structured)
				}
				all = append(all, r)
			}
		}
	}
	return all
}

func appended(t *testing.T, v any) string {
	t.Helper()
	text, err := wire.Append([]byte("before "), v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[len("before "):])
}

// stateless is the form of results in the stateless era.
func stateless() form {
	return form{facts: revision.Default(nil, true), by: new(naming).brief(&mcp.Implementation{Name: "n", Version: "1"})}
}

// byHandOrNot calls test once with results encoded by hand, and once without, as
// if a member had been added since.
func byHandOrNot(t *testing.T, test func(t *testing.T)) {
	t.Run("by hand", test)
	callByHand = false
	defer func() { callByHand = true }()
	t.Run("whole", test)
}

// The result of a tool, encoded by hand, is what the encoder would have written.
func TestStatelessCall(t *testing.T) { byHandOrNot(t, testStatelessCall) }

func testStatelessCall(t *testing.T) {
	f := stateless()
	for _, r := range results() {
		want := *r
		stamp(&want.ResultFields, f.by.meta)
		if got, want := appended(t, f.call(r)), appended(t, &want); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSessionCall(t *testing.T) { byHandOrNot(t, testSessionCall) }

func testSessionCall(t *testing.T) {
	for _, version := range []mcp.Revision{mcp.Revision20241105, mcp.Revision20250326, mcp.Revision20250618, mcp.Revision20251125} {
		f := revision.Of(version)
		for _, r := range results() {
			want := struct {
				mcp.CallToolResult
				IsError bool `json:"isError"`
			}{*r, r.IsError}
			want.ResultType, want.Content = "", shapeContents(r.Content, f)
			if !f.StructuredContent || !isObject(r.StructuredContent) {
				want.StructuredContent = nil
			}
			if got, want := appended(t, form{facts: f}.call(r)), appended(t, &want); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", version, got, want)
			}
		}
	}
}

// A result that is not valid JSON fails instead of going out.
func TestCallResultIsChecked(t *testing.T) {
	for _, r := range []*mcp.CallToolResult{
		{StructuredContent: json.RawMessage(`{"a":1,"a":2}`)},
		{StructuredContent: json.RawMessage(`{`)},
		{ResultFields: mcp.ResultFields{Meta: mcp.Meta{"a": json.RawMessage(`x`)}}},
		{Content: mcp.Contents{&mcp.TextContent{Meta: mcp.Meta{"a": json.RawMessage(`1 2`)}}}},
	} {
		for _, w := range []wire.Written{stateless().call(r), form{facts: revision.Of(mcp.Revision20251125)}.call(r)} {
			if text, err := wire.Append(nil, w); err == nil {
				t.Errorf("sent %s", text)
			}
		}
	}
}
