package check

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-mcp/parley/internal/check/inprocess"
	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/internal/check/serverprobe"
	"github.com/parley-mcp/parley/internal/child"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/mcptest"
)

// Target is a server to be judged. It is made by Handler, HTTP, URL or Command.
type Target struct {
	name string
	// header has what the report must not show.
	header http.Header
	// open returns the ways to the server; they are good until the test ends.
	open func(t testing.TB) []serverprobe.Target
}

// Handler is a server of this module, such as a *server.Server, in this process.
// It is judged over lines, as on standard streams.
func Handler(h mcp.Handler) Target {
	return Target{name: "the handler", open: func(testing.TB) []serverprobe.Target {
		return []serverprobe.Target{{Lines: func(context.Context) (io.ReadWriteCloser, error) { return inprocess.Start(h), nil }}} //nolint:contextcheck // the conversation outlives the call
	}}
}

// HTTP is a handler that speaks Streamable HTTP at any path, of this module or of
// another one, in this process.
func HTTP(h http.Handler) Target {
	return Target{name: "the HTTP handler", open: func(t testing.TB) []serverprobe.Target {
		site := mcptest.NewSite(h)
		t.Cleanup(site.Close)
		return []serverprobe.Target{{Site: &peer.Site{URL: site.URL, Client: site.Client}}}
	}}
}

// URL is a server somewhere, over Streamable HTTP or, in revision 2024-11-05,
// HTTP+SSE. header, which may be nil, goes with each request; its values are not
// shown.
func URL(url string, header http.Header) Target {
	return Target{name: url, header: header.Clone(), open: func(testing.TB) []serverprobe.Target {
		return []serverprobe.Target{{Site: &peer.Site{URL: url, Header: header.Clone()}}}
	}}
}

// Command is the program that is a server on its standard streams. It is started
// several times, also at once, and what it writes to its standard error goes to the test's log if the
// test fails.
func Command(args ...string) Target {
	return Target{name: strings.Join(args, " "), open: func(testing.TB) []serverprobe.Target {
		return []serverprobe.Target{{Apart: true, Lines: func(context.Context) (io.ReadWriteCloser, error) {
			return child.Start(child.Options{Args: args})
		}}}
	}}
}
