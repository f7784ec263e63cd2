package streamable

import (
	"net/http"
	"strconv"
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
	var noObject, noEvents bool // a type by its name goes before "*/*"
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, params, _ := strings.Cut(part, ";")
			takes := !refuses(params)
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*":
				object, events = object || takes, events || takes
			case "application/json", "application/*":
				object, noObject = object || takes, !takes
			case sse.ContentType, "text/*":
				events, noEvents = events || takes, !takes
			}
		}
	}
	return object && !noObject, events && !noEvents
}

// refuses reports whether the parameters of a type in Accept say that it is not
// accepted: its weight is zero.
//
// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (2).
func refuses(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, weight, _ := strings.Cut(strings.TrimSpace(param), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(weight, 64)
			return err == nil && q == 0
		}
	}
	return false
}
