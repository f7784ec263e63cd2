package streamable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
)

// maxErrorBody is how many bytes of a refusal's body are read to find out whether
// it is a message.
const maxErrorBody = 1 << 20

// flight is an HTTP request and its response. It may outlive its caller's context
// while the rest of the body is read so that the HTTP connection can be reused.
type flight struct {
	conn   *conn
	ctx    context.Context //nolint:containedctx // the request's own
	cancel context.CancelCauseFunc
	detach func() bool // from the caller's context
}

// begin returns a flight that ends with ctx, and with the connection.
func (c *conn) begin(ctx context.Context) *flight {
	f := &flight{conn: c}
	f.ctx, f.cancel = context.WithCancelCause(flightContext{Context: c.ctx, caller: ctx})
	f.detach = context.AfterFunc(ctx, func() { f.cancel(context.Cause(ctx)) })
	return f
}

// flightContext ends with the connection and has the values of the caller.
type flightContext struct {
	context.Context                 //nolint:containedctx // the connection's
	caller          context.Context //nolint:containedctx // only its values are used
}

// Value asks the connection first: package context uses Value to find the
// cancelCtx to attach a child to, which has to be the connection's.
func (c flightContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.caller.Value(key)
}

// over ends the flight, and with it any response that is still arriving.
func (f *flight) over() {
	f.detach()
	f.cancel(nil)
}

// reason replaces an error that ending the flight has caused by the cause of the
// ending.
func (f *flight) reason(err error) error {
	if err != nil && f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	return err
}

// drainTime is how long a server may take to end the stream after the answer for
// the HTTP connection to be reused.
const drainTime = 250 * time.Millisecond

// arrived ends a flight whose body was read to its end, so that the HTTP connection
// can be reused already.
func (f *flight) arrived(body io.Closer) {
	f.over()
	_ = body.Close() // nothing is left in it
}

// landed ends a flight whose answer has arrived, once the rest of its body has been
// read in the background.
func (f *flight) landed(body io.ReadCloser) {
	if body == http.NoBody {
		f.arrived(body)
		return
	}
	f.detach()                       // the caller may cancel its context as soon as it has the answer
	started := f.conn.spawn(func() { // ends with the body, after drainTime, or with the connection
		defer f.over()
		timer := time.AfterFunc(drainTime, func() { f.cancel(nil) })
		defer timer.Stop()
		drain(body)
	})
	if !started {
		f.over()
		_ = body.Close() // what is unread does not matter
	}
}

// drain reads the rest of a body, if it is short, so that the HTTP connection can
// be reused, and closes it.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 64<<10)
	_ = body.Close() // what is unread does not matter
}

// do sends a request. It takes over the header.
func (c *conn) do(ctx context.Context, method string, body []byte, header http.Header) (*http.Response, error) {
	req := c.blank.WithContext(ctx)
	to := *c.blank.URL // a RoundTripper may change it, though it should not
	req.Method, req.URL, req.Header = method, &to, header
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	if len(body) > 0 {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	seen := c.seen.Request(method, header, fieldLast.get(header))
	seen.Body(body)
	resp, err := c.http.Do(req)
	if err != nil || seen == nil {
		return resp, err
	}
	seen.Responded(resp.StatusCode, resp.Header)
	if resp.Body != http.NoBody { // landed recognizes it by its value
		resp.Body = seen.Carry(resp.Body)
	}
	return resp, nil
}

// show shows the body of a JSON response to the tap, if there is one.
func show(resp *http.Response, frame []byte) {
	if seen := tap.Of(resp.Body); seen != nil && mediaType(resp) == "application/json" {
		seen.Answer(frame, "")
	}
}

// baseHeader returns a copy of Client.Header without the protocol's own fields.
func baseHeader(added http.Header) http.Header {
	h := make(http.Header, len(added))
	for name, values := range added {
		h[http.CanonicalHeaderKey(name)] = append([]string(nil), values...)
	}
	for _, f := range []field{fieldVersion, fieldSession, fieldMethod, fieldName, fieldLast} {
		f.del(h)
	}
	return h
}

// toPost returns a copy of a header with the fields that every POST has.
func toPost(base http.Header) http.Header {
	h := base.Clone()
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, "+sse.ContentType)
	return h
}

// mediaType returns the media type of a response, or "".
func mediaType(resp *http.Response) string {
	header := resp.Header.Get("Content-Type")
	if header == "application/json" || header == sse.ContentType {
		return header // the usual case, without parsing
	}
	kind, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return kind
}

// httpError returns the error for a response whose body was read.
func httpError(resp *http.Response, body []byte) *HTTPError {
	return &HTTPError{
		Method: resp.Request.Method, URL: resp.Request.URL.Redacted(),
		Status: resp.StatusCode, Header: resp.Header, Body: string(body[:min(len(body), 512)]),
	}
}

// A body of unknown length gets a buffer of typicalBody bytes at first. One of an
// announced length gets that, but at most maxAhead: the length may be a lie.
const (
	typicalBody = 512
	maxAhead    = 1 << 20
)

// readBody reads a body to its end, and fails if it is longer than limit bytes.
// length is the announced length, negative if it is unknown.
func readBody(body io.Reader, length int64, limit int) ([]byte, error) {
	if length < 0 {
		length = typicalBody
	}
	b, err := readTo(make([]byte, 0, min(length, maxAhead)+1), io.LimitReader(body, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("the answer did not arrive completely: %w", err)
	}
	if len(b) > limit {
		return nil, fmt.Errorf("the answer is over the limit of %d bytes; see Client.MaxMessageBytes", limit)
	}
	return b, nil
}

// readTo is io.ReadAll that appends to b.
func readTo(b []byte, r io.Reader) ([]byte, error) {
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
		if len(b) == cap(b) {
			b = slices.Grow(b, len(b))
		}
	}
}

// newReader returns a reader of the events of a stream. MaxMessageBytes bounds the
// message; an event also has field names.
func (c *conn) newReader(body io.Reader) *sse.Reader {
	return sse.NewReader(body, c.opts.MaxMessageBytes+1024)
}
