// Package toolresult reads results of tools in whatever form they come.
package toolresult

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Failed reports whether a result is that of a tool that failed: an *mcp.CallToolResult,
// or raw JSON, as it is passed on by gateways and kept by tasks.
//
// Spec: 2026-07-28 server/tools#error-handling.
func Failed(result any) bool {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return r != nil && r.IsError
	case json.RawMessage:
		return string(wire.Find(r, "isError")) == "true"
	}
	return false
}
