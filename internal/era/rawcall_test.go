package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// plainResults are results of tools that are not decoded in some revision.
var plainResults = []string{
	`{"content":[]}`,
	`{"content":[{"type":"text","text":"a"},{"text":"\u0061\n","type":"text"}],"isError":false}`,
	`{"structuredContent":{"a":1.0,"b":[1e400]},"content":[{"type":"text","text":""}],"resultType":"complete","isError":true}`,
	`{"_meta":{"com.example/k":1.50,"io.modelcontextprotocol/serverInfo":{"name":"other","version":"2"}},"content":[]}`,
	`{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"other","version":"2"}},"com.example/x":12345678901234567890}`,
	`{"content":[],"_meta":{"progressToken":1},"resultType":"complete"}`,
	`{"content":[],"_meta":{}}`,
	`{"content":[],"structuredContent":[1.0]}`,
	`{"content":[],"structuredContent":null}`,
}

// What is not decoded goes out as it does when it is.
func FuzzRawCall(f *testing.F) {
	for _, doc := range plainResults {
		f.Add(doc)
	}
	for _, doc := range []string{
		`[]`, `{}`, `{"content":[null]}`, `{"content":[{"type":"text"}]}`, `{"content":[{"type":"text","text":1}]}`, `{"content":{}}`,
		`{"content":[],"isError":null}`, `{"content":[],"resultType":"task"}`, `{"content":[],"_meta":1}`, `{"content":[{"type":"audio"}]}`,
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := wire.Marshal(json.RawMessage(text))
		if err != nil {
			return
		}
		for _, r := range mcp.Revisions() {
			form := form{facts: revision.Of(r), by: new(naming).brief(&mcp.Implementation{Name: "n", Version: "1"})}
			plain, ok := form.rawCall(doc)
			if !ok {
				continue
			}
			want, err := form.understood(mcp.MethodCallTool, doc)
			if err != nil {
				t.Fatalf("%s: %s would be refused: %v", r, doc, err)
			}
			got, _ := wire.Append(nil, plain)
			decoded, err := wire.Append(nil, want)
			if err != nil || !sameMembers(t, string(got), string(decoded)) {
				t.Errorf("%s: %s\n is %s\nnot %s, error %v", r, doc, got, decoded, err)
			}
		}
	})
}

// Plain results are not decoded where the revision has all of them.
func TestPlainResultsAreNotDecoded(t *testing.T) {
	form := form{facts: revision.Of(mcp.Revision20260728), by: new(naming).brief(&mcp.Implementation{Name: "n", Version: "1"})}
	for _, doc := range plainResults {
		if _, ok := form.rawCall(json.RawMessage(doc)); !ok {
			t.Errorf("%s is decoded", doc)
		}
	}
}
