package era

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/access"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// requestMeta holds the members of a request's _meta that the protocol defines, as
// raw JSON; nil means absent.
//
// Spec: 2026-07-28 basic#meta.
type requestMeta struct {
	version       json.RawMessage
	info          json.RawMessage
	capabilities  json.RawMessage
	logLevel      json.RawMessage
	progressToken json.RawMessage
	traceParent   json.RawMessage
	traceState    json.RawMessage
	baggage       json.RawMessage
}

func readMeta(m *jsonrpc.Message) requestMeta {
	var meta requestMeta
	for name, value := range wire.Each(m.Meta) {
		switch string(name) {
		case mcp.MetaProtocolVersion:
			meta.version = value
		case mcp.MetaClientInfo:
			meta.info = value
		case mcp.MetaClientCapabilities:
			meta.capabilities = value
		case mcp.MetaLogLevel:
			meta.logLevel = value
		case mcp.MetaProgressToken:
			meta.progressToken = value
		case mcp.MetaTraceParent:
			meta.traceParent = value
		case mcp.MetaTraceState:
			meta.traceState = value
		case mcp.MetaBaggage:
			meta.baggage = value
		}
	}
	return meta
}

// facts returns the facts of the revision that the request names, if that is
// allowed. It is read first: the form of the other members depends on it.
func (meta *requestMeta) facts(allowed []mcp.Revision) (*revision.Facts, error) {
	if meta.version == nil || string(meta.version) == "null" {
		return nil, missingMeta(mcp.MetaProtocolVersion)
	}
	for _, f := range revision.All() {
		if f.Stateless && wire.Is(meta.version, f.Revision.String()) && revision.Permits(allowed, f.Revision) {
			return f, nil
		}
	}
	named, ok := wire.Text(meta.version)
	if !ok {
		return nil, mcp.InvalidParams("params._meta: %q must be a string", mcp.MetaProtocolVersion)
	}
	return nil, UnsupportedVersion(named, allowed)
}

// level returns the log level that the request asks for, or "" if it asks for none.
//
// Spec: 2026-07-28 server/utilities/logging#error-handling.
func (meta *requestMeta) level() (mcp.LoggingLevel, error) {
	if meta.logLevel == nil || string(meta.logLevel) == "null" {
		return "", nil
	}
	var level mcp.LoggingLevel
	if err := wire.Unmarshal(meta.logLevel, &level); err != nil {
		return "", badMeta(mcp.MetaLogLevel, err)
	}
	if level.Severity() < 0 {
		return "", mcp.InvalidParams("params._meta: %q is not a log level", level)
	}
	return level, nil
}

func badMeta(key string, err error) error {
	return mcp.InvalidParams("params._meta: %q: %v", key, err)
}

// newExchange returns the exchange of a message that came on the connection that
// seen observes. fill adds what _meta says.
func newExchange(m *jsonrpc.Message, seen *tap.Conn) *mcp.Exchange {
	x := &mcp.Exchange{ID: m.ID, Method: m.Method, Params: m.Params, Meta: m.Meta}
	access.SetObserver(x, seen)
	return x
}

// fill sets the fields of an exchange that come from _meta, except for the peer,
// which depends on the era.
func (meta *requestMeta) fill(x *mcp.Exchange) error {
	if meta.progressToken != nil {
		token, err := jsonrpc.ParseID(meta.progressToken)
		if err != nil {
			return mcp.InvalidParams("params._meta: progressToken must be a string or an integer")
		}
		x.ProgressToken = token
	}
	// Trace context is for observers: a broken one is no reason to refuse work.
	x.Trace.Parent, _ = wire.Text(meta.traceParent)
	x.Trace.State, _ = wire.Text(meta.traceState)
	x.Trace.Baggage, _ = wire.Text(meta.baggage)
	return nil
}
