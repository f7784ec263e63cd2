package era

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

func someTools() []*mcp.Tool {
	in := json.RawMessage("{ \"type\": \"object\",\n\"title\": \"<é>\" }")
	return []*mcp.Tool{
		{Name: "plain", InputSchema: in},
		{
			Name: "full", Title: "Full", Description: "a \"tool\"", InputSchema: in, OutputSchema: json.RawMessage(`{"type":"array"}`),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}, Icons: []mcp.Icon{{Src: "https://example.com/i"}}, Meta: mcp.Meta{"a": json.RawMessage(`[ 1 ]`)},
		},
		nil,
	}
}

func entriesOf(tools []*mcp.Tool) []*wire.Entry {
	var entries []*wire.Entry
	for _, t := range tools {
		entries = append(entries, wire.NewEntry(t))
	}
	return entries
}

func withEntries(r *mcp.ListToolsResult, entries []*wire.Entry) *mcp.ListToolsResult {
	access.SetEntries(r, entries)
	return r
}

// shapedTools is the list as one value, encoded in one go.
func shapedTools(t *testing.T, tools []*mcp.Tool, next *string, f *revision.Facts) string {
	t.Helper()
	r := mcp.ListToolsResult{Tools: []*mcp.Tool{}, NextCursor: next}
	for _, v := range tools {
		if v != nil {
			v = shapeTool(v, f)
		}
		r.Tools = append(r.Tools, v)
	}
	text, err := wire.Marshal(&r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func listed(t *testing.T, r *mcp.ListToolsResult, f *revision.Facts) string {
	t.Helper()
	c := *r
	text, err := wire.Append([]byte("before "), listOf(&c, "tools", &c.Tools, f, shapeTool))
	if err != nil {
		t.Fatal(err)
	}
	return string(text[len("before "):])
}

// A list goes out as the encoder would have written it, the first time and from
// cached entries, in every revision.
func TestListIsWhatTheEncoderMakes(t *testing.T) {
	tools, next := someTools(), "a\"b"
	kept := entriesOf(tools)
	for _, r := range revision.Newest(nil) {
		f := revision.Of(r)
		for _, values := range [][]*mcp.Tool{tools, tools[:1], nil} {
			for _, cursor := range []*string{nil, &next} {
				for _, prepared := range [][]*wire.Entry{nil, kept, kept} {
					got := listed(t, withEntries(&mcp.ListToolsResult{Tools: values, NextCursor: cursor}, prepared), f)
					if want := shapedTools(t, values, cursor, f); got != want {
						t.Errorf("%s\n got %s\nwant %s", r, got, want)
					}
				}
			}
		}
	}
}

// Cached entries of other values are not used: the list may have been changed on
// the way.
func TestChangedListIsEncodedAnew(t *testing.T) {
	f := revision.Of(mcp.Revision20260728)
	tools := someTools()[:2]
	kept := entriesOf(tools)
	listed(t, withEntries(&mcp.ListToolsResult{Tools: tools}, kept), f)
	other := *tools[0]
	other.Description = "another"
	for name, changed := range map[string][]*mcp.Tool{
		"copied": {&other, tools[1]}, "turned": {tools[1], tools[0]}, "shorter": tools[1:], "longer": append(slices.Clip(tools), &other),
	} {
		got := listed(t, withEntries(&mcp.ListToolsResult{Tools: changed}, kept), f)
		if want := shapedTools(t, changed, nil, f); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// An entry that somebody else has sent keeps what the module does not know, in every
// revision.
func TestEntryOfAnother(t *testing.T) {
	const original = `{"x":1.50,"title":"T","name":"t","inputSchema":{"type":"object","default":1e2},"icons":[{"src":"https://i","y":1}]}`
	tool := new(mcp.Tool)
	if err := wire.Unmarshal([]byte(original), tool); err != nil {
		t.Fatal(err)
	}
	kept := []*wire.Entry{wire.NewRawEntry(tool, []byte(original))}
	for r, want := range map[mcp.Revision]string{
		mcp.Revision20260728: original,
		mcp.Revision20250618: `{"x":1.50,"title":"T","name":"t","inputSchema":{"type":"object","default":1e2},"description":"T"}`,
		mcp.Revision20241105: `{"x":1.50,"name":"t","inputSchema":{"type":"object","default":1e2},"description":"T"}`,
	} {
		for range 2 {
			if got := listed(t, withEntries(&mcp.ListToolsResult{Tools: []*mcp.Tool{tool}}, kept), revision.Of(r)); got != `{"tools":[`+want+`]}` {
				t.Errorf("%s: %s", r, got)
			}
		}
	}
}

// A list that has no JSON form fails as a whole and leaves nothing behind.
func TestListWithoutJSONForm(t *testing.T) {
	tools := []*mcp.Tool{{Name: "bad", InputSchema: json.RawMessage(`{`)}}
	for range 2 {
		r := withEntries(&mcp.ListToolsResult{Tools: tools}, entriesOf(tools))
		list := listOf(r, "tools", &r.Tools, revision.Of(mcp.Revision20251125), shapeTool)
		if text, err := wire.Append([]byte("x"), list); err == nil || string(text) != "x" {
			t.Errorf("got %q (%v)", text, err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	var tools []*mcp.Tool
	for range 1_000 {
		tools = append(tools, someTools()[1])
	}
	r := withEntries(&mcp.ListToolsResult{Tools: tools}, entriesOf(tools))
	f := revision.Of(mcp.Revision20260728)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		c := *r
		if dst, err = wire.Append(dst[:0], listOf(&c, "tools", &c.Tools, f, shapeTool)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(dst)))
}
