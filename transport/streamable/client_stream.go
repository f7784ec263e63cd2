package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// cursor is the position of a client in an event stream.
type cursor struct {
	last  string        // the ID of the last event; "" if none had one
	retry time.Duration // the wait that the server asks for; 0 if it asks for none
}

// maxBackOff is the longest wait between two attempts, unless the server asks for
// more. A standing stream that lasted that long does not count as a failure.
const maxBackOff = 30 * time.Second

// stream reads the event stream of a POST up to the answer. In a session, a stream
// that ends before the answer is resumed: a server may let its clients poll for
// the answer instead of holding the connection open.
//
// Spec: 2026-07-28 basic/transports/streamable-http#receiving-messages.
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (c *conn) stream(f *flight, call *call, body io.ReadCloser) (*jsonrpc.Message, error) {
	at := new(cursor)
	for failures := 0; ; {
		m, moved, err := c.events(call, body, at)
		if m != nil {
			f.landed(body)
			return m, nil
		}
		_ = body.Close() // it has ended, or is given up
		if !errors.Is(err, errStreamEnded) || f.ctx.Err() != nil || call.stateless || at.last == "" {
			defer f.over()
			return nil, f.reason(err)
		}
		if moved {
			failures = 0
		}
		if body, err = c.resume(f, at, &failures, err); err != nil {
			defer f.over()
			return nil, err
		}
	}
}

// errStreamEnded marks the end of a stream that was to bring the answer.
var errStreamEnded = errors.New("the server ended the stream without an answer")

// events reads events up to the answer to call, or to the end of the stream. moved
// says whether there were any events.
func (c *conn) events(call *call, body io.Reader, at *cursor) (answer *jsonrpc.Message, moved bool, err error) {
	r, seen := c.newReader(body), tap.Of(body)
	defer r.Release()
	for {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, moved, errStreamEnded
		case errors.Is(err, sse.ErrTooLong):
			err = fmt.Errorf("the server sent a message over the limit of %d bytes; see Client.MaxMessageBytes", c.opts.MaxMessageBytes)
			c.seen.Drop(mcp.Received, mcp.DropTooLong, "", err)
			return nil, moved, err
		case err != nil:
			return nil, moved, fmt.Errorf("%w: %w", errStreamEnded, err)
		}
		moved = true
		if e.ID != "" {
			at.last = e.ID
		}
		if e.Retry > 0 {
			at.retry = e.Retry
		}
		if len(e.Data) == 0 {
			continue // it only updates the cursor
		}
		if e.Name != "" && e.Name != "message" {
			c.seen.DropFrame(mcp.Received, mcp.DropNoTaker, "", e.Data, fmt.Errorf("an event of type %q is not a message", e.Name))
			continue
		}
		seen.Answer(e.Data, e.ID)
		if m, err := c.take(call, e.Data); m != nil || err != nil {
			return m, moved, err
		}
	}
}

// resume requests the rest of a stream, repeatedly if the failures are temporary.
// failures counts the attempts since the last event.
//
// Spec: 2025-11-25 basic/transports#resumability-and-redelivery (2).
func (c *conn) resume(f *flight, at *cursor, failures *int, why error) (io.ReadCloser, error) {
	for {
		if *failures >= c.opts.MaxReconnects {
			return nil, fmt.Errorf("the stream broke off, and %d attempts to resume it failed: %w", *failures, why)
		}
		if !pause(f.ctx, c.delay(at, *failures)) {
			return nil, f.reason(why)
		}
		*failures++
		body, err := c.get(f.ctx, at)
		switch {
		case err == nil:
			return body, nil
		case f.ctx.Err() != nil:
			return nil, f.reason(err)
		case c.forgotten(err):
			_ = c.lose() // its error says that the call was refused, which is not true of this one
			return nil, errSessionOver
		case final(err):
			return nil, fmt.Errorf("the stream broke off and cannot be resumed: %w", err)
		}
		why = err
	}
}

// minDelay is the shortest wait between two attempts. A server may ask for none, and
// end each stream at once, which must not keep its client busy.
const minDelay = 20 * time.Millisecond

// delay returns how long to wait before an attempt: never less than the server
// asks for, longer after each failure, and with jitter, so that clients do not come
// back at the same moment.
//
// Spec: 2025-11-25 basic/transports#sending-messages-to-the-server (6).
func (c *conn) delay(at *cursor, failures int) time.Duration {
	d := c.opts.ReconnectDelay
	if at.retry > 0 {
		d = max(at.retry, minDelay)
	}
	if failures == 0 {
		return d
	}
	longer := min(d<<min(failures, 10), max(d, maxBackOff))
	return longer + rand.N(longer/2+1) //nolint:gosec // spreading load needs no secrecy
}

// pause waits, and reports false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// get opens a stream with GET: the rest of the stream that the cursor points into,
// or the standing stream.
//
// Spec: 2025-11-25 basic/transports#listening-for-messages-from-the-server.
func (c *conn) get(ctx context.Context, at *cursor) (io.ReadCloser, error) {
	h := c.header.Clone()
	h.Set("Accept", sse.ContentType)
	if at.last != "" {
		fieldLast.set(h, at.last)
	}
	c.mu.Lock()
	session, version := c.session, c.version
	c.mu.Unlock()
	sessionHeader(h, session, version)
	resp, err := c.do(ctx, http.MethodGet, nil, h) //nolint:bodyclose // the caller or drain closes it
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK && mediaType(resp) == sse.ContentType {
		return resp.Body, nil
	}
	defer drain(resp.Body)
	body, _ := readBody(resp.Body, resp.ContentLength, 512) // only to quote it; a part is enough
	show(resp, body)
	return nil, httpError(resp, body)
}

// forgotten reports whether err is the server's answer that it does not know the
// session.
func (c *conn) forgotten(err error) bool {
	var refused *HTTPError
	if !errors.As(err, &refused) || !forgets(refused.Status, nil, c.rpcError([]byte(refused.Body))) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != ""
}

// final reports whether err is a refusal that another attempt would meet, too.
func final(err error) bool {
	var refused *HTTPError
	return errors.As(err, &refused) && !errors.Is(err, mcp.ErrUnavailable)
}

// openTimeout bounds the wait for the standing stream. Some servers send no header
// before the first event.
const openTimeout = 500 * time.Millisecond

// startListening opens the standing stream, once, and waits for the server's
// response, up to openTimeout: messages that the server sends before the stream is
// open would be lost, for example a question about the first call.
func (c *conn) startListening(ctx context.Context) {
	c.mu.Lock()
	first := !c.listening
	c.listening = true
	c.mu.Unlock()
	answered := make(chan struct{})
	if !first || !c.spawn(func() { c.listen(sync.OnceFunc(func() { close(answered) })) }) { //nolint:contextcheck // ends with the connection, or when the server has no such stream
		return
	}
	timer := time.NewTimer(openTimeout)
	defer timer.Stop()
	select {
	case <-answered:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// listen reads the standing stream, which carries what belongs to no request, and
// reopens it when it ends. A server need not have one.
//
// Spec: 2025-11-25 basic/transports#listening-for-messages-from-the-server.
func (c *conn) listen(answered func()) {
	at, opened, told := new(cursor), false, false
	for failures := 0; ; {
		body, err := c.get(c.ctx, at)
		if !opened && final(err) && c.ctx.Err() == nil {
			c.opts.Logger.Debug("the server has no standing stream", "server", c.opts.Name(), "reason", err)
			close(c.unheard)
			answered() // only now: who waits for it looks at unheard
			return
		}
		answered()
		switch {
		case c.ctx.Err() != nil:
			if err == nil {
				_ = body.Close() // nobody reads it
			}
			return
		case err == nil:
			opened, told = true, false
			if c.standing(body, at) {
				failures = 0
			}
		case opened && c.forgotten(err):
			_ = c.lose() // there is no call to return it to; Err does
			return
		case final(err) && at.last != "":
			at.last = "" // what was missed is lost; start afresh
			c.seen.Drop(mcp.Received, mcp.DropForgotten, "", err)
		case final(err):
			c.opts.Logger.Warn("the server has ended the standing stream", "server", c.opts.Name(), "reason", err)
			close(c.unheard)
			return
		case opened && !told:
			told = true
			c.opts.Logger.Warn("the standing stream is interrupted; trying to open it again", "server", c.opts.Name(), "reason", err)
		}
		if failures >= c.opts.MaxReconnects {
			close(c.unheard)
			c.opts.Logger.Warn("standing stream given up", "server", c.opts.Name(), "attempts", failures, "error", err)
			return
		}
		if !pause(c.ctx, c.delay(at, failures)) {
			return
		}
		failures++
	}
}

// standing reads the standing stream to its end, and reports whether it brought an
// event or lasted for long.
func (c *conn) standing(body io.ReadCloser, at *cursor) bool {
	defer func() { _ = body.Close() }() // it has ended, or is given up
	began := time.Now()
	_, moved, err := c.events(&call{conn: c}, body, at)
	if !errors.Is(err, errStreamEnded) {
		c.opts.Logger.Warn("the standing stream cannot be read", "server", c.opts.Name(), "error", err)
		at.last = "" // resuming would bring the same event again
	}
	return moved || time.Since(began) >= maxBackOff
}
