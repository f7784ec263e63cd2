package naming_test

import (
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/mcp"
)

// What every small call costs: who it is for, its params, and its result.
func BenchmarkCall(b *testing.B) {
	n := names(b, naming.Rules{Backend: "files"}, naming.Rules{Backend: "shop"})
	params, result := []byte(small), []byte(`{"content":[{"type":"text","text":"# Report\n\nAll is well."}],"isError":false}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := naming.Strict(params); err != nil {
			b.Fatal(err)
		}
		kind, shown := naming.Subject(mcp.MethodCallTool, params)
		backend, own, _ := n.Own(kind, shown)
		backend.Params(mcp.MethodCallTool, params, own)
		backend.Result(mcp.MethodCallTool, result)
	}
}
