package sse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/parley-mcp/parley/internal/httpcall"
	"github.com/parley-mcp/parley/internal/marked"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/stream"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

const headerVersion = "MCP-Protocol-Version"

var errNoEndpoint = errors.New("the server did not name its endpoint in time")

// frames is the stream.Frames of a connection: it reads the messages of events,
// and posts the messages that are written to it.
type frames struct {
	client   *Client
	http     *http.Client
	own      bool            // http was made for this connection
	ctx      context.Context //nolint:containedctx // the connection's lifetime: cancelled by Close
	end      context.CancelCauseFunc
	seen     *tap.Conn
	stream   *tap.Request // the GET that opened the event stream
	body     io.ReadCloser
	events   *sse.Reader
	endpoint *url.URL
	version  atomic.Pointer[string] // of the session, once it has been negotiated
}

var _ stream.Unordered = (*frames)(nil)

func newFrames(c *Client, seen *tap.Conn) *frames {
	f := &frames{client: c, seen: seen, own: c.HTTP == nil}
	f.http = httpcall.Guarded(c.HTTP)
	f.ctx, f.end = context.WithCancelCause(context.Background())
	return f
}

// open opens the event stream and reads its first event.
func (f *frames) open(ctx context.Context, base *url.URL) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.client.ConnectTimeout, errNoEndpoint)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { f.end(context.Cause(ctx)) })
	err := f.connect(base)
	if !stop() {
		return fmt.Errorf("GET %q: %w", base.Redacted(), context.Cause(ctx))
	}
	return err
}

func (f *frames) connect(base *url.URL) error {
	req, err := f.request(http.MethodGet, base, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", sse.ContentType)
	req.Header.Set("Cache-Control", "no-store")
	f.stream = f.seen.Request(req.Method, req.Header, "")
	resp, err := f.http.Do(req) //nolint:bodyclose // Close does
	if err != nil {
		return err
	}
	f.stream.Responded(resp.StatusCode, resp.Header)
	f.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		return newHTTPError(resp)
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || kind != sse.ContentType {
		return marked.As(mcp.ErrNotMCP, fmt.Errorf("GET %q: the server sent %q, not an event stream", base.Redacted(), resp.Header.Get("Content-Type")))
	}
	f.events = sse.NewReader(resp.Body, f.client.MaxMessageBytes+1024) // for the field names of an event
	first, err := f.events.Next()
	if err != nil {
		return fmt.Errorf("GET %q: the event stream ended before it named an endpoint: %w", base.Redacted(), err)
	}
	if first.Name != "endpoint" {
		return marked.As(mcp.ErrNotMCP, fmt.Errorf("GET %q: the first event is %q, not %q; this is not an HTTP+SSE server", base.Redacted(), first.Name, "endpoint"))
	}
	return f.use(resp.Request.URL, base, string(first.Data))
}

// use sets the endpoint that messages are posted to. The stream names it by a
// reference relative to at. It must have the origin of base, whose credentials it
// will get.
func (f *frames) use(at, base *url.URL, endpoint string) error {
	u, err := at.Parse(strings.TrimSpace(endpoint))
	if err != nil {
		return fmt.Errorf("the server named a malformed endpoint: %w", err)
	}
	if !httpcall.SameOrigin(u, base) {
		return fmt.Errorf("the server named the endpoint %q, which is of another origin than %q; refused", u.Redacted(), base.Redacted())
	}
	u.User = base.User
	f.endpoint = u
	return nil
}

func (f *frames) request(method string, to *url.URL, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(f.ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range f.client.Header {
		req.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	return req, nil
}

// Read implements stream.Frames: it returns the data of the next message event.
func (f *frames) Read() ([]byte, error) {
	for {
		e, err := f.events.Next()
		switch {
		case f.ctx.Err() != nil:
			return nil, io.EOF
		case errors.Is(err, sse.ErrTooLong) || errors.Is(err, io.EOF):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%w: %w", jsonrpc.ErrClosed, err)
		case (e.Name == "" || e.Name == "message") && len(e.Data) > 0:
			f.stream.Answer(e.Data, e.ID)
			return e.Data, nil
		case len(e.Data) > 0:
			f.seen.DropFrame(mcp.Received, mcp.DropNoTaker, "", e.Data, fmt.Errorf("an event of type %q is not a message", e.Name))
		}
	}
}

// Write implements stream.Frames: it posts a message.
func (f *frames) Write(frame []byte) error {
	req, err := f.request(http.MethodPost, f.endpoint, frame)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(f.ctx, f.client.PostTimeout, errors.New("the server did not take the message in time"))
	defer cancel()
	req = req.WithContext(ctx)
	req.Header.Set("Content-Type", "application/json")
	if v := f.version.Load(); v != nil {
		req.Header.Set(headerVersion, *v)
	}
	seen := f.seen.Request(req.Method, req.Header, "")
	seen.Body(frame)
	resp, err := f.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("POST %q: %w", f.endpoint.Redacted(), context.Cause(ctx))
		}
		return err
	}
	seen.Responded(resp.StatusCode, resp.Header)
	defer func() { _ = resp.Body.Close() }() // its content does not matter
	if resp.StatusCode/100 != 2 {
		return newHTTPError(resp)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the HTTP connection can be reused
	return nil
}

// WriteInAnyOrder implements stream.Unordered, as a marker: each message is sent by
// a POST of its own.
func (f *frames) WriteInAnyOrder() {}

// Close implements stream.Frames.
func (f *frames) Close() error {
	f.end(jsonrpc.ErrClosed)
	if f.body != nil {
		_ = f.body.Close() // what is unread does not matter
	}
	if f.own {
		f.http.CloseIdleConnections()
	}
	return nil
}
