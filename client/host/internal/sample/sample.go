// Package sample has tools and results of every kind, on which the conversions of all
// vendors are tried.
package sample

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/client/host"
	"github.com/parley-mcp/parley/mcp"
)

// Tools are tools of servers. The last is one that no vendor takes.
func Tools() []*mcp.Tool {
	return []*mcp.Tool{
		{Name: "files__read", Title: "Read", Description: "Reads a file.", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`), OutputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "files__list_K5ZQX7BA", InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "shop__order", Description: strings.Repeat("é", 1100), InputSchema: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"id":{"type":"integer"}},"required":["id"]},{"properties":{"name":{"type":"array"}}}]}`)},
		{Name: "shop__untyped", InputSchema: json.RawMessage(`{"properties":{}}`)},
		{Name: "shop.list", InputSchema: json.RawMessage(`[]`)},
	}
}

// Answers are answers to calls, with every kind of content.
func Answers() []host.Answer {
	results := []*mcp.CallToolResult{
		{Content: mcp.Contents{mcp.Text("It is sunny.")}},
		{Content: mcp.Contents{mcp.Text(`{"a": 1.0}`), mcp.Text("")}, StructuredContent: json.RawMessage(`{"a":1.0}`)},
		{Content: mcp.Contents{mcp.Text("Done.")}, StructuredContent: json.RawMessage(`[9007199254740993]`)},
		{Content: mcp.Contents{mcp.Text("There is no such file.")}, IsError: true},
		{Content: mcp.Contents{}},
		{Content: mcp.Contents{}, IsError: true},
		{Content: mcp.Contents{
			&mcp.ImageContent{Data: []byte("\x89PNG"), MIMEType: "image/png"},
			&mcp.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/svg+xml"},
			&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"},
		}},
		{Content: mcp.Contents{&mcp.ImageContent{Data: []byte("GIF89a"), MIMEType: "IMAGE/GIF; a=b"}}, IsError: true},
		{Content: mcp.Contents{
			&mcp.ResourceLink{URI: "file:///a", Name: "a", Title: "A", Description: "The letter.", MIMEType: "text/plain", Size: new(int64(5))},
			&mcp.EmbeddedResource{Resource: mcp.TextResource("file:///b.txt", "text/plain", "B")},
			&mcp.EmbeddedResource{Resource: mcp.BlobResource("file:///c%20d.pdf?x=1", "application/pdf", []byte("%PDF"))},
			&mcp.EmbeddedResource{Resource: mcp.BlobResource("file:///e.png", "image/png", []byte("\x89PNG"))},
			&mcp.EmbeddedResource{Resource: mcp.BlobResource("file:///f.zip", "application/zip", []byte("PK"))},
			&mcp.UnknownContent{Type: "hologram", Raw: json.RawMessage(`{"type":"hologram","depth":3}`)},
		}},
	}
	answers := make([]host.Answer, len(results))
	for i, r := range results {
		answers[i] = host.Answer{Call: host.Call{ID: "call_" + string(rune('a'+i)), Name: "files__read", Arguments: json.RawMessage(`{"path":"a"}`)}, Result: r}
	}
	answers[1].Arguments = nil
	return answers
}

// Calls are the calls that the answers are for.
func Calls() (calls []host.Call) {
	for _, a := range Answers() {
		calls = append(calls, a.Call)
	}
	return calls
}

var update = flag.Bool("update", false, "write the golden files")

// Golden compares a document with a file in testdata.
func Golden(t *testing.T, file string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of the test
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; go test -update writes it anew:\n%s", path, got)
	}
}
