package era

import (
	"errors"
	"strings"

	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// UnsupportedVersion is the error that lists the revisions the client may use.
//
// Spec: 2026-07-28 basic/versioning#protocol-version-negotiation.
func UnsupportedVersion(requested string, allowed []mcp.Revision) *jsonrpc.Error {
	return withData(jsonrpc.Errorf(mcp.CodeUnsupportedVersion, "Unsupported protocol version"), map[string]any{
		"supported": names(revision.Newest(allowed)),
		"requested": requested,
	})
}

// NoInitialize is the error of a server without sessions for an initialize request.
// A client that can do nothing else may show it to its user.
//
// Spec: 2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions.
func NoInitialize(m *jsonrpc.Message, allowed []mcp.Revision) *jsonrpc.Error {
	requested, _ := wire.Text(wire.Find(m.Params, "protocolVersion"))
	return UnsupportedVersion(requested, allowed)
}

// noInitialize is NoInitialize for a request that claims to be stateless: initialize
// does not exist there, whatever else is wrong with the request. failed is what was
// wrong with its version.
//
// Spec: 2026-07-28 basic/versioning#backward-compatibility-with-initialization-based-versions.
func noInitialize(m *jsonrpc.Message, failed error, f *revision.Facts, allowed []mcp.Revision) error {
	if _, lists := errors.AsType[*jsonrpc.Error](failed); lists {
		return failed
	}
	unknown := &mcp.MethodNotFoundError{Method: m.Method}
	return NamingVersions(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "in %s: %v", f.Revision, unknown), allowed)
}

// NamingVersions returns a copy of an error that also lists the revisions the client
// may use.
func NamingVersions(e *jsonrpc.Error, allowed []mcp.Revision) *jsonrpc.Error {
	supported := names(revision.Newest(allowed))
	return withData(jsonrpc.Errorf(e.Code, "%s; this server speaks %s", e.Message, strings.Join(supported, ", ")),
		map[string]any{"supported": supported})
}

// Unopened returns the error for a request that belongs to no session and is not
// stateless either. If only a stateless client can have sent the request, the error
// says what it lacks; otherwise, that there is no session yet.
//
// Spec: 2026-07-28 basic#meta.
func Unopened(m *jsonrpc.Message, allowed []mcp.Revision) *jsonrpc.Error {
	modern := !revision.Default(nil, false).Has(m.Method) && revision.Default(nil, true).Has(m.Method) || wire.Find(m.Meta, mcp.MetaClientCapabilities) != nil
	switch {
	case len(revision.Session(allowed)) == 0, modern && len(revision.Stateless(allowed)) > 0:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "%v", missingMeta(mcp.MetaProtocolVersion))
	case len(revision.Stateless(allowed)) == 0:
		return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Server not initialized: the first request must be initialize")
	}
	return jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Server not initialized: the first request must be initialize, or every request must have %q in params._meta", mcp.MetaProtocolVersion)
}

func names(revisions []mcp.Revision) []string {
	list := make([]string, len(revisions))
	for i, r := range revisions {
		list[i] = r.String()
	}
	return list
}
