package streamable

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"

	"github.com/parley-mcp/parley/internal/era"
)

// checkHeaders compares a request's headers with its body. version is the one in
// the body, verbatim. A version that is not supported passes, to be refused as
// such: the rules for its headers are unknown.
//
// Spec: 2026-07-28 basic/transports/streamable-http#server-validation.
func checkHeaders(r *http.Request, m *jsonrpc.Message, version json.RawMessage) error {
	if m.Kind != jsonrpc.Request {
		return nil
	}
	if !names(version) {
		return nil // era.Stateless refuses it for that
	}
	if err := checkHeader(r, fieldVersion, version); err != nil {
		return err
	}
	if v, ok := mcp.ParseRevision(fieldVersion.get(r.Header)); !ok || !era.StatelessRevision(v) {
		return nil
	}
	if err := checkMethod(r, m); err != nil {
		return err
	}
	return checkName(r, m)
}

func checkMethod(r *http.Request, m *jsonrpc.Message) error {
	got, err := only(r, fieldMethod)
	if err == nil && got != m.Method {
		err = mismatch(fieldMethod, got, m.Method)
	}
	return err
}

// checkName checks the header that names the subject of a request.
//
// Spec: 2026-07-28 basic/transports/streamable-http#standard-request-headers.
func checkName(r *http.Request, m *jsonrpc.Message) error {
	name := named(m)
	if !names(name) {
		return nil // the handler refuses it for that
	}
	// Spec: ext-tasks/draft tasks#streamable-http-routing-headers: only clients are told
	// that methods of extensions have the header, and those of fastmcp leave it out.
	if len(fieldName.values(r.Header)) == 0 && mcp.MethodNamed(m.Method).Extension != "" {
		return nil
	}
	return checkHeader(r, fieldName, name)
}

// named returns the member of a request's params that names its subject and is
// mirrored in a header, or nil.
func named(m *jsonrpc.Message) json.RawMessage {
	if d := mcp.MethodNamed(m.Method); d != nil && d.Mirrored {
		return wire.Find(m.Params, d.Subject)
	}
	return nil
}

// names reports whether a member is a string that is not empty.
func names(raw json.RawMessage) bool {
	return raw != nil && raw[0] == '"' && !wire.Is(raw, "")
}

// checkHeader compares one header with a string in the body.
func checkHeader(r *http.Request, f field, want json.RawMessage) error {
	got, err := only(r, f)
	if err != nil {
		return err
	}
	if f == fieldName {
		if got, err = decodeHeader(got); err != nil {
			return refused("%s: %v", f, err)
		}
	}
	if !wire.Is(want, got) {
		text, _ := wire.Text(want)
		return mismatch(f, got, text)
	}
	return nil
}

// only returns the value of a field, which must occur exactly once.
func only(r *http.Request, f field) (string, error) {
	values := f.values(r.Header)
	if len(values) != 1 {
		return "", notOnce(f, len(values))
	}
	return values[0], nil
}

func notOnce(f field, times int) *jsonrpc.Error {
	return refused("%s must be sent once, not %d times", f, times)
}

func mismatch(f field, got, want string) *jsonrpc.Error {
	return refused("%s header value %q does not match body value %q", f, got, want)
}

func refused(format string, args ...any) *jsonrpc.Error {
	e := &mcp.HeaderMismatchError{Reason: fmt.Sprintf(format, args...)}
	return jsonrpc.Errorf(mcp.CodeHeaderMismatch, "%s", e.Error())
}

// mirrored returns a lookup of the headers that mirror parameters.
func mirrored(r *http.Request) func(string) (string, bool, error) {
	return func(name string) (string, bool, error) {
		values := r.Header.Values(fieldParam + name)
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
