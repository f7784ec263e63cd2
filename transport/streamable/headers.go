package streamable

import (
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"

	"github.com/parley-mcp/parley/internal/era"
)

// checkHeaders compares what a request's headers say with what its body says.
// A version that is not spoken here is left to be refused as such: what its
// headers are to be is not known.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func checkHeaders(r *http.Request, m *jsonrpc.Message) error {
	if m.Kind != jsonrpc.Request {
		return nil
	}
	version, _ := wire.Text(wire.Find(m.Meta, mcp.MetaProtocolVersion))
	if version == "" {
		return nil // refused for that by the front
	}
	if err := checkHeader(r, headerVersion, version, false); err != nil {
		return err
	}
	if v, ok := mcp.ParseRevision(version); !ok || !era.StatelessRevision(v) {
		return nil
	}
	if err := checkHeader(r, headerMethod, m.Method, false); err != nil {
		return err
	}
	name, needed := named(m)
	if !needed {
		return nil
	}
	return checkHeader(r, headerName, name, true)
}

// checkHeader compares one header, which must be there exactly once.
func checkHeader(r *http.Request, header, want string, encoded bool) error {
	values := r.Header.Values(header)
	if len(values) != 1 {
		return mismatch("%s must be sent once, not %d times", header, len(values))
	}
	got := values[0]
	if encoded {
		var err error
		if got, err = decodeHeader(got); err != nil {
			return mismatch("%s: %v", header, err)
		}
	}
	if got != want {
		return mismatch("%s header value %q does not match body value %q", header, got, want)
	}
	return nil
}

func mismatch(format string, args ...any) *jsonrpc.Error {
	e := &mcp.HeaderMismatchError{Reason: fmt.Sprintf(format, args...)}
	return jsonrpc.Errorf(mcp.CodeHeaderMismatch, "%s", e.Error())
}

// named returns what a request is about, if its method is one of those that
// say so in a header.
//
// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
func named(m *jsonrpc.Message) (name string, needed bool) {
	member := "name"
	switch m.Method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
	case mcp.MethodReadResource:
		member = "uri"
	default:
		return "", false
	}
	name, _ = wire.Text(wire.Find(m.Params, member))
	return name, name != "" // one that is none is refused by the handler
}

// mirrored gives an exchange the headers that mirror parameters.
func mirrored(r *http.Request) func(string) (string, bool, error) {
	return func(name string) (string, bool, error) {
		values := r.Header.Values(headerParam + name)
		switch len(values) {
		case 0:
			return "", false, nil
		case 1:
			value, err := decodeHeader(values[0])
			return value, true, err
		}
		return "", true, fmt.Errorf("sent %d times", len(values))
	}
}
