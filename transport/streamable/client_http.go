package streamable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
)

// maxErrorBody is how much of the body of a refusal is read to find out
// whether it is a message.
const maxErrorBody = 1 << 20

// flight is an HTTP request and its response. It may outlive the context of
// its caller by as long as it takes to make the connection usable again.
type flight struct {
	conn   *conn
	ctx    context.Context //nolint:containedctx // the request's own
	cancel context.CancelCauseFunc
	detach func() bool // from the caller
	free   func() bool // from the connection
}

// begin returns a flight that ends with ctx, and with the connection.
func (c *conn) begin(ctx context.Context) *flight {
	f := &flight{conn: c}
	f.ctx, f.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	f.detach = context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
	f.free = context.AfterFunc(c.ctx, func() { f.cancel(context.Cause(c.ctx)) }) //nolint:contextcheck // it is the second one to end with
	return f
}

// over ends the flight, and with it the response that is still coming.
func (f *flight) over() {
	f.detach()
	f.free()
	f.cancel(nil)
}

// reason prefers why the flight was ended to what that did to it.
func (f *flight) reason(err error) error {
	if err != nil && f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	return err
}

// drainTime is how long a server may take to end a stream on which it has
// said everything, for its connection to be used again.
const drainTime = 250 * time.Millisecond

// landed ends a flight whose answer has come, after the rest of its body.
func (f *flight) landed(body io.ReadCloser) {
	f.detach()                       // callers end their context as soon as they have the answer
	started := f.conn.spawn(func() { // ends with the body, after drainTime, or with the connection
		defer f.over()
		timer := time.AfterFunc(drainTime, func() { f.cancel(nil) })
		defer timer.Stop()
		drain(body)
	})
	if !started {
		f.over()
		_ = body.Close() // what is unread is not wanted
	}
}

// drain reads what little may be left of a body, so that its connection can
// be used again, and closes it.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close() // what is unread is not wanted
}

// do sends a request.
func (c *conn) do(ctx context.Context, method string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	return c.http.Do(req)
}

// baseHeader returns what the user adds to every request.
func (c *conn) baseHeader() http.Header {
	h := make(http.Header, len(c.opts.Header)+8)
	for name, values := range c.opts.Header {
		h[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	// What the protocol says must not be said by anybody else.
	for _, name := range []string{headerVersion, headerSession, headerMethod, headerName, headerLast} {
		h.Del(name)
	}
	return h
}

// mediaType returns the media type of a response, or "".
func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

// httpError makes an error of a response whose body was read.
func httpError(resp *http.Response, body []byte) *HTTPError {
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(body[:min(len(body), 512)]),
	}
}

// readBody reads a body of at most limit bytes.
func readBody(body io.Reader, limit int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(body, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("the answer did not arrive whole: %w", err)
	}
	if len(b) > limit {
		return nil, fmt.Errorf("the answer is over the limit of %d bytes; see Client.MaxMessageBytes", limit)
	}
	return b, nil
}

// newReader reads the events of a stream; the limit is on messages, to which
// the names of the fields come.
func (c *conn) newReader(body io.Reader) *sse.Reader {
	return sse.NewReader(body, c.opts.MaxMessageBytes+1024)
}
