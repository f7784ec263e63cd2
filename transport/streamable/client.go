package streamable

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
)

// Client is the transport to a server at a URL: Streamable HTTP of every
// revision, and HTTP+SSE where a server has only that. Its fields must not
// change once it is in use; it is safe for concurrent use.
//
// Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
// Spec: 2025-11-25 basic/transports#streamable-http.
type Client struct {
	// URL is the MCP endpoint, for example "https://example.com/mcp".
	URL string
	// HTTP makes the requests. nil means a client of its own, with the proxies
	// of the environment. Its CheckRedirect is not used: redirects are followed
	// within the origin of the URL only, and only those that keep the request
	// as it is (307 and 308), so that credentials never leave. A Timeout would
	// end streams that are meant to stay open.
	HTTP *http.Client
	// Header is added to every request. What the protocol itself sends wins.
	Header http.Header
	// Logger hears of what the server does wrong. nil means slog.Default().
	Logger *slog.Logger
	// MaxMessageBytes bounds one message of the server. 0 means 64 MiB.
	MaxMessageBytes int
	// MaxReconnects is how often in a row a stream that broke off is asked
	// for without anything coming of it. 0 means 5; negative means never.
	MaxReconnects int
	// ReconnectDelay is how long to wait before that when the server does not
	// say; attempts that fail double it. 0 means 1 second.
	ReconnectDelay time.Duration
	// NoSSEFallback does not try HTTP+SSE with a server that refuses
	// initialize.
	NoSSEFallback bool
	// CloseTimeout is how long Close may take to tell the server that the
	// session is over, and how long a cancellation may take to be delivered.
	// 0 means 5 seconds.
	CloseTimeout time.Duration
}

var _ mcp.Transport = (*Client)(nil)

// HTTPError says that a server answered a request with a status that is no
// success, and without a message of the protocol that would say more. A 401
// and a 403 always are one; WWW-Authenticate is in its Header.
type HTTPError = sse.HTTPError

// Name implements mcp.Transport: the URL, without a password.
func (c *Client) Name() string {
	if u, err := url.Parse(c.URL); err == nil {
		return u.Redacted()
	}
	return c.URL
}

func (c *Client) withDefaults() Client {
	d := *c
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	if d.MaxMessageBytes <= 0 {
		d.MaxMessageBytes = 64 << 20
	}
	if d.MaxReconnects == 0 {
		d.MaxReconnects = 5
	}
	if d.ReconnectDelay <= 0 {
		d.ReconnectDelay = time.Second
	}
	if d.CloseTimeout <= 0 {
		d.CloseTimeout = 5 * time.Second
	}
	return d
}

// Connect returns a connection. There is no I/O yet: a server that cannot be
// reached is an error of the first call. The connection opens a session when
// it carries initialize, and ends with it; without one it does not end by
// itself.
func (c *Client) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	u, err := httpcall.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	blank, err := http.NewRequest(http.MethodPost, u.String(), nil) //nolint:noctx // each that is made of it has one
	if err != nil {
		return nil, err
	}
	l := &conn{opts: c.withDefaults(), seen: tap.Take(ctx), blank: blank, http: httpcall.Guarded(c.HTTP), own: c.HTTP == nil, done: make(chan struct{})}
	l.header = baseHeader(c.Header)
	l.postHeader = toPost(l.header)
	l.ctx, l.end = context.WithCancelCause(context.Background())
	l.inbound = l.inbox(receiver)
	return l, nil
}
