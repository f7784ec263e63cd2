package era

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// requestMeta is what the protocol reads out of a request's _meta.
//
// Spec: 2026-07-28 basic#meta.
type requestMeta struct {
	Info          *mcp.Implementation `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities  json.RawMessage     `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel      *mcp.LoggingLevel   `json:"io.modelcontextprotocol/logLevel"`
	ProgressToken json.RawMessage     `json:"progressToken"`
	TraceParent   json.RawMessage     `json:"traceparent"`
	TraceState    json.RawMessage     `json:"tracestate"`
	Baggage       json.RawMessage     `json:"baggage"`
	declared      *mcp.ClientCapabilities
}

// version reads the revision that a request names, and nothing else: what the
// other members look like is for that revision to say.
func version(m *jsonrpc.Message) (string, error) {
	var meta struct {
		Version *string `json:"io.modelcontextprotocol/protocolVersion"`
	}
	if m.Meta == nil {
		return "", missingMeta(mcp.MetaProtocolVersion)
	}
	if err := wire.Unmarshal(m.Meta, &meta); err != nil {
		return "", mcp.InvalidParams("params._meta: %v", err)
	}
	if meta.Version == nil {
		return "", missingMeta(mcp.MetaProtocolVersion)
	}
	return *meta.Version, nil
}

func decodeMeta(m *jsonrpc.Message) (*requestMeta, error) {
	meta := new(requestMeta)
	if m.Meta == nil {
		return meta, nil
	}
	if err := wire.Unmarshal(m.Meta, meta); err != nil {
		return nil, mcp.InvalidParams("params._meta: %v", err)
	}
	if meta.Capabilities != nil {
		if !isObject(meta.Capabilities) {
			return nil, mcp.InvalidParams("params._meta: %q must be an object", mcp.MetaClientCapabilities)
		}
		meta.declared = new(mcp.ClientCapabilities)
		if err := wire.Unmarshal(meta.Capabilities, meta.declared); err != nil {
			return nil, mcp.InvalidParams("params._meta: %q: %v", mcp.MetaClientCapabilities, err)
		}
	}
	return meta, nil
}

// exchange makes the exchange of a message, but for the peer and the way
// back, which the era knows.
func (meta *requestMeta) exchange(m *jsonrpc.Message) (*mcp.Exchange, error) {
	x := &mcp.Exchange{ID: m.ID, Method: m.Method, Params: m.Params, Meta: m.Meta, CaseVariant: m.CaseVariant}
	if meta.ProgressToken != nil {
		token, err := jsonrpc.ParseID(meta.ProgressToken)
		if err != nil {
			return nil, mcp.InvalidParams("params._meta: progressToken must be a string or an integer")
		}
		x.ProgressToken = token
	}
	// Trace context is for observers: a broken one is no reason to refuse work.
	x.Trace = mcp.Trace{Parent: text(meta.TraceParent), State: text(meta.TraceState), Baggage: text(meta.Baggage)}
	return x, nil
}

func text(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var s string
	if wire.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
