package mcp_test

import (
	"bytes"
	"testing"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Decoded content keeps its meaning when it is encoded and decoded again, even
// where its type is not known.
func FuzzContent(f *testing.F) {
	for _, s := range []string{
		`{"type":"text","text":"Tool result text"}`,
		`{"type":"image","data":"AAEC","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.9}}`,
		`{"type":"audio","data":"","mimeType":"audio/wav"}`,
		`{"type":"resource_link","uri":"file:///project/src/main.rs","name":"main.rs","mimeType":"text/x-rust","size":7}`,
		`{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x","annotations":{"lastModified":"2025-05-03T14:30:00Z"}}}`,
		`{"type":"tool_use","id":"call_1","name":"get_weather","input":{"city":"Paris"}}`,
		`{"type":"tool_result","toolUseId":"call_1","content":[{"type":"text","text":"18 C"}],"isError":false}`,
		`{"type":"hologram","depth":1e400}`, `{"type":""}`, `{}`, `[]`, `null`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		content, err := mcp.DecodeContent(bytes.Clone(doc))
		if err != nil {
			return
		}
		out, err := wire.Marshal(content)
		if err != nil {
			t.Fatalf("%s was decoded and cannot be encoded: %v", doc, err)
		}
		again, err := mcp.DecodeContent(out)
		if err != nil {
			t.Fatalf("own output refused: %v: %s", err, out)
		}
		twice, err := wire.Marshal(again)
		if err != nil || !bytes.Equal(out, twice) {
			t.Fatalf("%s became %s, then %s (%v)", doc, out, twice, err)
		}
	})
}

// One block and a list of one are the same.
func FuzzOneOrMany(f *testing.F) {
	for _, s := range []string{`{"type":"text","text":"a"}`, `[{"type":"text","text":"a"}]`, `[]`, `[{"type":"text","text":"a"},{"type":"x"}]`, `[null]`, `5`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var m mcp.SamplingMessage
		if wire.Unmarshal(append(append([]byte(`{"role":"user","content":`), doc...), '}'), &m) != nil {
			return
		}
		out, err := wire.Marshal(&m)
		if err != nil {
			t.Fatalf("%s was decoded and cannot be encoded: %v", doc, err)
		}
		var again mcp.SamplingMessage
		if err := wire.Unmarshal(out, &again); err != nil || len(again.Content) != len(m.Content) {
			t.Fatalf("%s became %s: %v", doc, out, err)
		}
	})
}
