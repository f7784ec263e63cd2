// Package mcptest tests servers and clients. It has a matrix that runs one test
// body in every mode of the protocol, so that what works in one revision and
// over one transport is known to work in all; a recorder of what is sent; and
// calls for testing a handler alone.
//
//	func TestGreet(t *testing.T) {
//		mcptest.Run(t, newServer, nil, func(t *testing.T, c *client.Client) {
//			got, err := client.Call[string](t.Context(), c, "greet", map[string]any{"name": "Ann"})
//			…
//		})
//	}
//
// Everything runs in this process, and HTTP uses connections in memory, so all
// of it works in the bubbles of testing/synctest, too.
package mcptest

import (
	"log/slog"
	"testing"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// Run runs body as a subtest in each of Modes, each time with a new server and
// a client connected to it. opts returns the client's options; it may be nil,
// and is called for each mode. Run fails the test if a client cannot connect,
// and closes everything when body has returned.
func Run(t *testing.T, server func() mcp.Handler, opts func() *client.Options, body func(t *testing.T, c *client.Client)) {
	t.Helper()
	RunModes(t, Modes(), server, opts, body)
}

// RunModes is Run with a matrix of your own.
func RunModes(t *testing.T, modes []Mode, server func() mcp.Handler, opts func() *client.Options, body func(t *testing.T, c *client.Client)) {
	t.Helper()
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			if m.skip != "" {
				t.Skip(m.skip)
			}
			var o *client.Options
			if opts != nil {
				o = opts()
			}
			body(t, Connect(t, server(), m, o))
		})
	}
}

// Connect connects a client to a server in one mode. Both end with the test.
// opts may be nil; its Revisions are ignored, and its Logger is Quiet if it is
// nil.
func Connect(t testing.TB, h mcp.Handler, m Mode, opts *client.Options) *client.Client {
	t.Helper()
	o := client.Options{}
	if opts != nil {
		o = *opts
	}
	o.Revisions = []mcp.Revision{m.Revision}
	if o.Logger == nil {
		o.Logger = Quiet()
	}
	transport := &Transport{Handler: h, Over: m.Transport, Serve: &mcp.ServeOptions{Logger: Quiet()}}
	c, err := client.Connect(t.Context(), transport, &o)
	if err != nil {
		transport.Wait()
		t.Fatalf("%s: %v", m, err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		transport.Wait()
	})
	return c
}

// Quiet returns a logger that drops everything.
func Quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
