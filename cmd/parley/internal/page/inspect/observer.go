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
// transport it reached the server, on which connection, in which session and with which
// header, and the server's capabilities as they came.
type observer struct {
	taps []mcp.Tap // besides its own

	mu           sync.Mutex
	transport    string
	session      string
	connection   uint64
	header       http.Header // of a request of the session, or of one that names the version
	capabilities json.RawMessage
}

// tap sees an event.
func (o *observer) tap(e mcp.TapEvent) {
	for _, t := range o.taps {
		t(e)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.placed(e)
	if e.Direction == mcp.Received && e.Dropped == 0 && o.capabilities == nil {
		o.answered(e)
	}
}

// placed notes where an event belongs.
func (o *observer) placed(e mcp.TapEvent) {
	o.connection = e.Connection
	if e.Session != "" && e.Session != o.session {
		o.session, o.header = e.Session, nil
	}
	if o.header != nil || e.Direction != mcp.Sent || e.HTTP == nil {
		return
	}
	if header := http.Header(e.HTTP.Header); header.Get("Mcp-Session-Id") == o.session && header.Get("Mcp-Session-Id")+header.Get("Mcp-Protocol-Version") != "" {
		o.header = header.Clone()
	}
}

// place is where the requests of an attempt belong.
type place struct {
	connection uint64
	session    string      // as it is
	header     http.Header // nil if none was seen
}

func (o *observer) place() place {
	o.mu.Lock()
	defer o.mu.Unlock()
	return place{o.connection, o.session, o.header.Clone()}
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

// observed returns what sees the traffic of the last attempt.
func (c *Connection) observed() *observer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wire
}
