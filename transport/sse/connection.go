package sse

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/sse"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// connection is one client, and the event stream to it.
type connection struct {
	id           string
	owner        string // see era.Sender.Owner
	seen         *tap.Conn
	calls        *httpserve.Calls // of the handler
	response     *httpserve.Response
	conversation *era.Conversation
	ctx          context.Context //nolint:containedctx // the stream's lifetime: cancelled at its end
	end          context.CancelCauseFunc

	mu       sync.Mutex
	ending   bool
	requests sync.WaitGroup
	until    time.Time   // when the authorization that lasts longest expires
	expiry   *time.Timer // nil if there is none that expires
}

var _ era.Out = (*connection)(nil)

// Message writes a notification or a request.
func (c *connection) Message(_ context.Context, frame []byte) error {
	return c.response.Event(sse.Message("", frame))
}

// Answer writes a response.
func (c *connection) Answer(ctx context.Context, frame []byte, _ *era.Failure) error {
	return c.Message(ctx, frame)
}

// open serves a stream until its client disconnects or the stream is ended.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	c := h.begin(r, sender.Owner(), httpserve.ConnOf(w, h.seen))
	if c == nil {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "no more streams can be opened now", http.StatusServiceUnavailable)
		return
	}
	defer h.finish(c)
	c.response = httpserve.NewResponse(w, h.opts.WriteTimeout, h.opts.KeepAlive, func(error) { c.end(era.ErrCancelled) })
	defer c.response.Close()
	c.conversation = era.NewConversation(h.handler, h.opts.ServeOptions, nil, c, c.seen)
	c.renew(sender.Authorization)
	h.publish(c)
	if c.response.Event(sse.Event{Name: "endpoint", Data: []byte(c.endpoint(r.URL))}) == nil {
		<-c.ctx.Done()
	}
	c.drain()
}

// endpoint returns where the client of a stream should POST: the stream's own path
// with a query, in a form whose beginning no client takes for a host.
func (c *connection) endpoint(stream *url.URL) string {
	u := url.URL{Path: stream.Path, RawPath: stream.RawPath, RawQuery: "sessionId=" + c.id}
	s := u.String()
	if strings.HasPrefix(s, "//") {
		return "/." + s
	}
	return s
}

func (h *Handler) begin(r *http.Request, owner string, seen *tap.Conn) *connection {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	c := &connection{id: hex.EncodeToString(id), owner: owner, seen: seen, calls: &h.calls}
	seen.SetSession(c.id)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.calls.Draining() || len(h.streams) >= h.opts.MaxStreams {
		return nil
	}
	c.ctx, c.end = context.WithCancelCause(context.Background()) // each message brings its own values
	context.AfterFunc(r.Context(), func() { c.end(era.ErrCancelled) })
	h.busy.Add(1)
	return c
}

// publish registers a connection, so that a POST can find it.
func (h *Handler) publish(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[c.id] = c
	if h.closed {
		c.end(era.ErrShutdown)
	}
}

func (h *Handler) finish(c *connection) {
	c.end(era.ErrShutdown)
	h.mu.Lock()
	delete(h.streams, c.id)
	h.mu.Unlock()
	h.busy.Done()
}

// drain cancels the requests in flight and waits for them.
func (c *connection) drain() {
	c.mu.Lock()
	c.ending = true
	if c.expiry != nil {
		c.expiry.Stop()
	}
	c.mu.Unlock()
	c.conversation.Cancel(context.Cause(c.ctx))
	c.conversation.Close(jsonrpc.ErrClosed)
	c.requests.Wait()
}

// renew extends the life of the stream to the expiry of an authorization of its
// client. The client cannot reopen the stream without losing the requests in
// flight, but each of its messages shows that it has a valid token.
func (c *connection) renew(a *mcp.Authorization) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case a == nil || a.Expires.IsZero() || !a.Expires.After(c.until) || c.ending:
	case c.expiry == nil:
		c.until, c.expiry = a.Expires, time.AfterFunc(time.Until(a.Expires), func() { c.end(era.ErrExpired) })
	default:
		c.until = a.Expires
		c.expiry.Reset(time.Until(a.Expires))
	}
}
