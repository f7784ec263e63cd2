package inspect

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/parley-mcp/parley/internal/redact"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// The transports as the API names them.
const (
	overStdio      = "stdio"
	overStreamable = "streamable-http"
	overSSE        = "sse"
)

// observer finds out from the traffic what the client keeps to itself: over which
// transport it reached the server, in which session, and the server's capabilities as they came.
type observer struct {
	taps []mcp.Tap // besides its own

	mu           sync.Mutex
	transport    string
	session      string
	capabilities json.RawMessage
}

// tap sees an event.
func (o *observer) tap(e mcp.TapEvent) {
	for _, t := range o.taps {
		t(e)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.Session != "" {
		o.session = e.Session
	}
	if e.Direction == mcp.Received && e.Dropped == 0 && o.capabilities == nil {
		o.answered(e)
	}
}

// answered looks for the answer in which the server says what it has. Over HTTP+SSE it
// comes on the stream that a GET opened, and over Streamable HTTP in response to the POST.
func (o *observer) answered(e mcp.TapEvent) {
	said := wire.Find(wire.Find(e.Frame, "result"), "capabilities")
	if said == nil {
		return
	}
	o.capabilities = append(json.RawMessage{}, said...)
	switch {
	case e.HTTP == nil:
		o.transport = overStdio
	case e.HTTP.Method == http.MethodGet && e.HTTP.EventID == "":
		o.transport = overSSE
	default:
		o.transport = overStreamable
	}
}

// found returns the transport, and enough of the session's ID to tell it from others.
func (o *observer) found() (transport, session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session != "" {
		session = new(redact.Redactor).Header("Mcp-Session-Id", o.session)
	}
	return o.transport, session
}

// said returns the capabilities as they came, or nil.
func (o *observer) said() json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.capabilities
}

// observe adds a tap for the attempt that is being prepared. It must return soon.
func (c *Connection) observe(t mcp.Tap) { c.wire.taps = append(c.wire.taps, t) }
