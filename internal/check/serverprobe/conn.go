package serverprobe

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/parley-mcp/parley/internal/check/peer"
	"github.com/parley-mcp/parley/mcp"
)

// Conn is a conversation in the form of the revision.
type Conn struct {
	*peer.Conn

	// Capabilities are what the client declares.
	Capabilities map[string]any
	// Session is the ID that the server gave the session, if any.
	Session string
	// Hello is the answer to initialize; nil in stateless revisions.
	Hello *peer.Reply
	// Stream is the standing stream for messages of the server, if there is one.
	Stream *peer.Reply

	x *X
}

// Opening says how to open a conversation.
type Opening struct {
	// Capabilities are what the client declares; nil means all that the revision
	// has.
	Capabilities map[string]any
	// Silent leaves out the handshake: the caller makes it, or not.
	Silent bool
	// NoStream leaves out the standing stream of sessions over HTTP.
	NoStream bool
	// Answer answers requests of the server instead of x.Answer.
	Answer func(*peer.Message) *peer.Out
}

// Open opens a conversation of its own, which ends with the check at the
// latest. nil means the defaults.
func (x *X) Open(how *Opening) (*Conn, error) {
	if how == nil {
		how = &Opening{}
	}
	c := &Conn{x: x, Capabilities: how.Capabilities}
	if c.Capabilities == nil {
		c.Capabilities = x.capabilities()
	}
	if err := x.dial(c); err != nil {
		return nil, err
	}
	x.conns = append(x.conns, c)
	x.odd[c.Number] = how.Capabilities != nil || how.Answer != nil
	c.Patience, c.Answer, c.Shape, c.Pace = x.opts.Patience, how.Answer, c.shape, x.common.pace.Wait
	if c.Answer == nil && !x.Stateless {
		c.Answer = c.answer
	}
	c.Resumes = x.Transport == needsHTTP && !x.Stateless
	if how.Silent || x.Stateless {
		return c, nil
	}
	return c, c.greet(how)
}

func (x *X) dial(c *Conn) error {
	switch x.Transport {
	case needsStdio:
		stream, err := x.target.Lines(x.Ctx)
		if err != nil {
			return err
		}
		c.Conn = peer.OverLines(x.Log, stream)
	case needsHTTP:
		c.Conn = peer.OverHTTP(x.Log, *x.target.Site)
	default:
		var err error
		c.Conn, err = peer.OverSSE(x.Ctx, x.Log, *x.target.Site, x.opts.Patience)
		return err
	}
	return nil
}

// greet makes the handshake of a session. What else is wrong with the answer
// than another version is no reason not to go on: probes say it.
func (c *Conn) greet(how *Opening) error {
	c.Hello = c.Call("initialize", c.Introduction())
	if c.Hello.Response == nil || !c.Hello.Response.IsResult() {
		return refusalOf(mcp.MethodInitialize, c.Hello)
	}
	if v := c.Hello.Response.Text("result/protocolVersion"); v != "" && v != c.x.Revision {
		return &otherVersion{v}
	}
	c.adoptSession()
	c.Notify("notifications/initialized", nil)
	if c.x.Transport == needsHTTP && !how.NoStream {
		c.Stream = c.Get(c.x.Ctx, nil)
	}
	return nil
}

// adoptSession takes the ID of the session from the answer to initialize.
func (c *Conn) adoptSession() {
	if c.x.Transport == needsHTTP && c.Hello.Exchange != nil {
		c.Session = c.Hello.Exchange.ResponseHeader.Get("Mcp-Session-Id")
	}
}

// Leave ends the conversation, whatever is still due in it.
func (c *Conn) Leave() { _ = c.Close() } // what matters has been said

// Close is Leave with the error of the transport.
func (c *Conn) Close() error {
	c.x.left[c.Number] = true
	return c.Conn.Close()
}

// Introduction are the params of initialize.
func (c *Conn) Introduction() map[string]any {
	return map[string]any{
		"protocolVersion": c.x.Revision, "capabilities": c.Capabilities, "clientInfo": clientInfo(),
	}
}

func clientInfo() map[string]any {
	return map[string]any{"name": "parley-check", "version": "1"}
}

// Request makes a request of the revision, whole, for the caller to change.
func (c *Conn) Request(method string, params map[string]any) map[string]any {
	m := c.Notification(method, params)
	m["id"] = json.Number(fmt.Sprint(c.x.NextID()))
	return m
}

// Notification makes a notification of the revision, whole.
func (c *Conn) Notification(method string, params map[string]any) map[string]any {
	m := map[string]any{"jsonrpc": "2.0", "method": method}
	params = maps.Clone(params)
	if c.x.Stateless {
		if params == nil {
			params = map[string]any{}
		}
		meta, _ := params["_meta"].(map[string]any)
		if meta = maps.Clone(meta); meta == nil {
			meta = map[string]any{}
		}
		meta[mcp.MetaProtocolVersion] = c.x.Revision
		meta[mcp.MetaClientInfo] = clientInfo()
		meta[mcp.MetaClientCapabilities] = c.Capabilities
		params["_meta"] = meta
	}
	if params != nil {
		m["params"] = params
	}
	return m
}

// Call sends a request and waits for the answer.
func (c *Conn) Call(method string, params map[string]any) *peer.Reply {
	return c.Do(c.x.Ctx, peer.Frame(c.Request(method, params)))
}

// Begin sends a request and does not wait. The caller stops the reply.
func (c *Conn) Begin(method string, params map[string]any) *peer.Reply {
	return c.Start(c.x.Ctx, peer.Frame(c.Request(method, params)))
}

// Notify sends a notification. Over HTTP it waits for the response; otherwise
// it does not wait.
func (c *Conn) Notify(method string, params map[string]any) *peer.Reply {
	out := peer.Frame(c.Notification(method, params))
	if c.x.Transport != needsStdio {
		return c.Do(c.x.Ctx, out)
	}
	r := c.Start(c.x.Ctx, out)
	r.Stop()
	return r
}

// shape adds the headers of the revision, unless the message has its own.
func (c *Conn) shape(out *peer.Out) {
	if c.x.Transport != needsHTTP {
		return
	}
	if out.Header == nil {
		out.Header = http.Header{}
	}
	set := func(name, value string) {
		if _, ok := out.Header[http.CanonicalHeaderKey(name)]; !ok && value != "" {
			out.Header.Set(name, value)
		}
	}
	set("Mcp-Session-Id", c.Session)
	if c.Session != "" || c.Hello != nil && c.Hello.Response != nil {
		set("MCP-Protocol-Version", c.x.Revision)
	}
	if c.x.Stateless {
		c.mirror(out.Raw, set)
	}
}
