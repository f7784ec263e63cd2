// Package sse is HTTP+SSE, the transport of 2024-11-05, which Streamable HTTP has
// replaced.
//
//	h, err := sse.New(srv, nil)
//	…
//	mux.Handle("/sse", h)
//
// Revision 2025-03-26 deprecates HTTP+SSE (docs/deprecated.md).
//
// Spec: 2024-11-05 basic/transports#http-with-sse.
package sse

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Client is the transport to a server that speaks HTTP+SSE: everything from the
// server arrives on one event stream, and messages to the server are posted to an
// endpoint that the stream names. Its fields must not be changed while it is in
// use; it is safe for concurrent use. For a server of unknown age use
// streamable.Client, which falls back to this one.
//
// Spec: 2024-11-05 basic/transports#http-with-sse.
type Client struct {
	// URL is that of the event stream, for example "http://localhost:3001/sse".
	URL string
	// HTTP makes the requests. nil means a new http.Client for each connection,
	// with the proxies of the environment. Its CheckRedirect is not used: only
	// redirects that preserve the request (307 and 308) are followed, and only
	// within the origin of the URL. A Timeout would end the event stream.
	HTTP *http.Client
	// Header is added to every request.
	Header http.Header
	// MaxMessageBytes bounds one message of the server. 0 means 64 MiB.
	MaxMessageBytes int
	// ConnectTimeout is how long the server may take to name its endpoint.
	// 0 means 10 seconds.
	ConnectTimeout time.Duration
	// PostTimeout is how long the server may take to accept a message.
	// 0 means 30 seconds.
	PostTimeout time.Duration
}

var _ mcp.Transport = (*Client)(nil)

// Name implements mcp.Transport: the URL, without a password.
func (c *Client) Name() string {
	if u, err := url.Parse(c.URL); err == nil {
		return u.Redacted()
	}
	return c.URL
}

func (c *Client) withDefaults() Client {
	d := *c
	if d.MaxMessageBytes <= 0 {
		d.MaxMessageBytes = 64 << 20
	}
	if d.ConnectTimeout <= 0 {
		d.ConnectTimeout = 10 * time.Second
	}
	if d.PostTimeout <= 0 {
		d.PostTimeout = 30 * time.Second
	}
	return d
}

// Connect implements mcp.Transport: it opens the event stream and waits for the
// endpoint. ctx applies only to that. A refusal is an *HTTPError. The connection
// ends with the stream, which this transport cannot resume.
func (c *Client) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	base, err := httpcall.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	d := c.withDefaults()
	f := newFrames(&d, tap.Take(ctx))
	if err := f.open(ctx, base); err != nil {
		_ = f.Close() // nothing was sent
		return nil, err
	}
	explain := func(err error) error { return fmt.Errorf("the event stream of %q ended: %w", d.Name(), err) }
	return &conn{Conn: stream.Dial(f, receiver, d.MaxMessageBytes, explain, f.seen), frames: f}, nil //nolint:contextcheck // the connection outlives this call
}

// conn is a stream.Conn that learns the revision of its session.
type conn struct {
	*stream.Conn
	frames *frames
}

// RoundTrip implements mcp.Conn.
func (c *conn) RoundTrip(ctx context.Context, request *jsonrpc.Message) (*jsonrpc.Message, error) {
	response, err := c.Conn.RoundTrip(ctx, request)
	if err != nil {
		return nil, err
	}
	if request.Method == mcp.MethodInitialize && response.Error == nil {
		c.agreed(response.Result)
	}
	return response, nil
}

// agreed remembers the revision of the session, which all later requests name in
// a header.
//
// Spec: 2025-06-18 basic/transports#protocol-version-header.
func (c *conn) agreed(result []byte) {
	var r struct {
		Version string `json:"protocolVersion"`
	}
	if wire.Unmarshal(result, &r) == nil {
		c.frames.version.Store(&r.Version)
	}
}
