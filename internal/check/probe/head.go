package probe

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/verdict"
	"github.com/parley-mcp/parley/internal/redact"
)

// ofExchange is the evidence of an exchange: what was asked, unless it was a
// message that is shown anyway, and what came.
func ofExchange(x *peer.Exchange, b Blame) []verdict.Evidence {
	var all []verdict.Evidence
	if x.Message == nil {
		e := verdict.Evidence{At: x.At, Sent: !x.Incoming, Head: head(x, true)}
		e.Text, e.Cut = cut(x.Body, 0)
		all = append(all, e)
	}
	e := verdict.Evidence{At: max(x.At, x.Ended), Sent: x.Incoming, Head: head(x, false), Pointer: b.Pointer}
	e.Text, e.Cut = cut(x.Text, 0)
	if x.Err != nil && x.Status == 0 {
		e.Text = x.Err.Error()
	}
	return append(all, e)
}

// head is the first line and the headers of a request or a response, without
// what is secret.
func head(x *peer.Exchange, request bool) string {
	var b strings.Builder
	header := x.ResponseHeader
	if request {
		fmt.Fprintf(&b, "%s %s\n", x.Method, x.URL)
		header = x.Header
	} else {
		fmt.Fprintf(&b, "%d %s\n", x.Status, http.StatusText(x.Status))
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, shown(x, name, value))
		}
	}
	return b.String()
}

// shown is the value of a header as a report may have it. Secrets are also taken
// out by value, of the whole report; this is what can be told here.
func shown(x *peer.Exchange, name, value string) string {
	if slices.ContainsFunc(x.Secret, func(s string) bool { return strings.EqualFold(s, name) }) {
		return redact.Hidden(value)
	}
	var byName *redact.Redactor
	return byName.Header(name, value)
}
