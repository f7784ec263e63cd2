package streamable

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-mcp/parley/internal/caching"
	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/origins"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/terse"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/transport/sse"
)

// Client is the transport to a server at a URL. It speaks the Streamable HTTP of
// every revision, and HTTP+SSE if the server has only that. Its fields must not be
// changed while it is in use; it is safe for concurrent use.
//
// Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
// Spec: 2025-11-25 basic/transports#streamable-http.
type Client struct {
	// URL is the MCP endpoint, for example "https://example.com/mcp".
	URL string
	// HTTP makes the requests. nil means a new http.Client for each connection,
	// with the proxies of the environment. Its CheckRedirect is not used: only
	// redirects that preserve the request (307 and 308) are followed, and only
	// within the origin of the URL, so that credentials never leave it. A Timeout
	// would end streams that are meant to stay open. If its Transport is neither an
	// *http.Transport nor that of an oauth.Client, nobody knows which credentials it
	// adds to requests, so results that are private to them are not cached, unless it
	// has a method Credentials(context.Context) (id string, known bool) that says
	// which credentials a request with that context would get.
	HTTP *http.Client
	// Header is added to every request. The protocol's own header fields take
	// precedence.
	Header http.Header
	// Logger records what the server does wrong, each message only a few times in a
	// minute. nil means slog.Default().
	Logger *slog.Logger
	// MaxMessageBytes bounds one message of the server. 0 means 64 MiB.
	MaxMessageBytes int
	// MaxReconnects is how many attempts in a row to resume a broken stream may
	// bring no event before the client gives up. 0 means 5; negative means that it
	// never tries.
	MaxReconnects int
	// ReconnectDelay is the wait before the first attempt, unless the server asks
	// for another one; each failed attempt doubles it. 0 means 1 second.
	ReconnectDelay time.Duration
	// NoSSEFallback disables the fallback to HTTP+SSE with a server that refuses
	// initialize.
	NoSSEFallback bool
	// CloseTimeout bounds how long Close waits for the server to accept the end of
	// the session, and how long a cancellation may take to be delivered. 0 means 5
	// seconds.
	CloseTimeout time.Duration
}

var _ mcp.Transport = (*Client)(nil)

// HTTPError says that a server answered an HTTP request with a status that is not
// a success, and without an error of the protocol in the body. A 401 or 403 is
// always returned as an HTTPError, whose Header has WWW-Authenticate.
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
	d.Logger = terse.Logger(d.Logger)
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

// Connect implements mcp.Transport. It does no I/O: if the server cannot be
// reached, the first call fails. The connection opens a session when it carries
// initialize, and ends when the server ends that session; without a session only
// Close ends it.
func (c *Client) Connect(ctx context.Context, receiver mcp.Receiver) (mcp.Conn, error) {
	u, err := httpcall.ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	blank, err := http.NewRequest(http.MethodPost, u.String(), nil) //nolint:noctx // each request that is copied from it has one
	if err != nil {
		return nil, err
	}
	cn := &conn{opts: c.withDefaults(), seen: tap.Take(ctx), blank: blank, http: httpcall.Guarded(c.HTTP), own: c.HTTP == nil, done: make(chan struct{}), unheard: make(chan struct{})}
	cn.header = baseHeader(c.Header)
	cn.postHeader = toPost(cn.header)
	cn.ctx, cn.end = context.WithCancelCause(context.Background())
	cn.inbound = cn.inbox(receiver)
	cn.named = origins.Of(ctx)
	cn.named.Store(true)
	link := caching.Of(ctx)
	link.Listed = func(page json.RawMessage) { cn.tools.learn(page, cn.opts.Logger) }
	link.Credentials = func(ctx context.Context) (string, bool) { return httpcall.Credentials(ctx, cn.http, u, cn.header) }
	return cn, nil
}
