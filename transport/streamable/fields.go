package streamable

import (
	"net/http"
	"strings"

	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
)

// field is a field of an HTTP header: its name as the specification spells it, and
// the canonical key in an http.Header, computed once.
type field struct{ name, key string }

// The fields of the transport.
var (
	fieldVersion = newField(httpserve.FieldVersion)
	fieldSession = newField("Mcp-Session-Id")
	fieldMethod  = newField("Mcp-Method")
	fieldName    = newField("Mcp-Name")
	fieldLast    = newField("Last-Event-ID")
)

// fieldParam is the prefix of the fields that mirror parameters.
const fieldParam = "Mcp-Param-"

func newField(name string) field { return field{name, http.CanonicalHeaderKey(name)} }

func (f field) String() string { return f.name }

func (f field) values(h http.Header) []string { return h[f.key] }

// get returns the first value, or "".
func (f field) get(h http.Header) string {
	if values := h[f.key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (f field) set(h http.Header, value string) { h[f.key] = []string{value} }

func (f field) del(h http.Header) { delete(h, f.key) }

// accepted returns which types of response a client accepts, by its Accept header.
func accepted(h http.Header) (object, events bool) {
	values := h["Accept"]
	if len(values) == 0 {
		return true, true
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*":
				return true, true
			case "application/json", "application/*":
				object = true
			case sse.ContentType, "text/*":
				events = true
			}
		}
	}
	return object, events
}
