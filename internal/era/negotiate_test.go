package era

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// The rows of the compatibility matrix.
func TestDecide(t *testing.T) {
	discover := func(versions string) []byte {
		return []byte(`{"resultType":"complete","supportedVersions":` + versions + `,"capabilities":{},"ttlMs":0,"cacheScope":"private"}`)
	}
	refusal := func(versions string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: mcp.CodeUnsupportedVersion, Data: json.RawMessage(`{"supported":` + versions + `,"requested":"x"}`)}
	}
	sessions := []mcp.Revision{mcp.Revision20241105, mcp.Revision20251125}
	stateless := []mcp.Revision{mcp.Revision20260728}
	tests := []struct {
		name      string
		ours      []mcp.Revision
		probe     Probe
		revision  string
		stateless bool
		fails     bool
	}{
		{"dual, modern", nil, Probe{Result: discover(`["2026-07-28"]`)}, "2026-07-28", true, false},
		{"dual, dual", nil, Probe{Result: discover(`["2025-11-25","2026-07-28"]`)}, "2026-07-28", true, false},
		{"dual, a later one only", nil, Probe{Result: discover(`["2030-01-01"]`)}, "", false, true},
		{"dual, refusal with a revision in common", nil, Probe{Error: refusal(`["2026-07-28"]`)}, "2026-07-28", true, false},
		{"dual, refusal with a session revision", nil, Probe{Error: refusal(`["2025-06-18"]`)}, "2025-06-18", false, false},
		{"dual, refusal with nothing in common", nil, Probe{Error: refusal(`["2030-01-01"]`)}, "", false, true},
		{"dual, other modern error", nil, Probe{Error: &jsonrpc.Error{Code: mcp.CodeMissingCapability}}, "", false, true},
		{"dual, method not found", nil, Probe{Error: &jsonrpc.Error{Code: -32601}}, "2025-11-25", false, false},
		{"dual, invalid params", nil, Probe{Error: &jsonrpc.Error{Code: -32602}}, "2025-11-25", false, false},
		{"dual, refusal without a list", nil, Probe{Error: &jsonrpc.Error{Code: -32000}}, "2025-11-25", false, false},
		{"dual, silence", nil, Probe{}, "2025-11-25", false, false},
		{"dual, a result that is none", nil, Probe{Result: []byte(`{"hello":1}`)}, "2025-11-25", false, false},
		{"sessions only", sessions, Probe{}, "2025-11-25", false, false},
		{"modern, legacy", stateless, Probe{Error: &jsonrpc.Error{Code: -32601}}, "", false, true},
		{"modern, silence", stateless, Probe{}, "", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Decide(tt.ours, tt.probe)
			if (d.Err != nil) != tt.fails || d.Revision.String() != tt.revision || d.Stateless != tt.stateless {
				t.Errorf("got %q, stateless %v, error %v", d.Revision, d.Stateless, d.Err)
			}
		})
	}
}

func TestOnlyAProbeThatCanHelpIsSent(t *testing.T) {
	if probe, _ := Opening([]mcp.Revision{mcp.Revision20241105}); probe {
		t.Error("a client that speaks only session revisions probes")
	}
	if probe, in := Opening(nil); !probe || in != mcp.Revision20260728 {
		t.Errorf("probe %v in %s", probe, in)
	}
}
