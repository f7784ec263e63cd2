package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-mcp/parley/mcp"
)

func TestWithoutReserved(t *testing.T) {
	m := mcp.Meta{mcp.MetaProgressToken: json.RawMessage("1"), mcp.MetaTraceParent: json.RawMessage(`"x"`), "io.modelcontextprotocol/related-task": json.RawMessage("{}")}
	kept := m.WithoutReserved()
	if len(kept) != 2 || len(m) != 3 || kept[mcp.MetaTraceParent] == nil {
		t.Errorf("kept %v of %v", kept, m)
	}
	for _, m := range []mcp.Meta{nil, {mcp.MetaServerInfo: json.RawMessage("{}")}} {
		if none := m.WithoutReserved(); none != nil {
			t.Errorf("%v became %v", m, none)
		}
	}
}
