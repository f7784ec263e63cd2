package streamable

import (
	"sync/atomic"
	"testing"

	"github.com/parley-mcp/parley/internal/origins"
)

// Streams say which call a message belongs to, but not those of HTTP+SSE.
func TestOriginsAreKnown(t *testing.T) {
	o, s := newOlder(t, 405)
	var named atomic.Bool
	c := &Client{URL: s.URL + "/mcp"}
	conn, err := c.Connect(origins.With(t.Context(), &named), newEar())
	if err != nil {
		t.Fatal(err)
	}
	if !named.Load() {
		t.Error("the connection does not say that it names calls")
	}
	handshake(t, conn)
	within(t, "initialize", o.got)
	if named.Load() {
		t.Error("a connection of HTTP+SSE says that it names calls")
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
