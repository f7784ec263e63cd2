package sse

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

var errEnded = errors.New("the stream has ended")

// post accepts the messages of a client; the answers go out on its stream.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, sender era.Sender) {
	c := h.find(r, sender.Owner())
	if c == nil {
		http.Error(w, "no such stream; open one with GET", http.StatusNotFound)
		return
	}
	if err := httpserve.CheckVersion(r, era.Revisions(r.Context(), h.handler, h.opts.Logger)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.renew(sender.Authorization)
	if err := httpserve.CheckType(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return
	}
	body, hold, status := h.body(w, r, &sender)
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	defer hold.Release()
	sender.SessionID = c.id
	switch err := c.take(httpserve.Within(c.ctx, r.Context()), body, hold, sender); {
	case errors.Is(err, errEnded):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, era.ErrShutdown):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "Accepted") // it does not matter if the client is gone
	}
}

// find returns the connection that a request names, if its owner is the one that opened it, or
// nil. A request that names two finds none: an intermediary may have gone by the
// other one.
func (h *Handler) find(r *http.Request, owner string) *connection {
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.streams[ids[0]]
	if c == nil || c.owner != owner {
		return nil
	}
	return c
}

// connOf returns the tap's connection for a request: that of the stream it names,
// or a new one, which the stream keeps if the request opens one.
func (h *Handler) connOf(r *http.Request) *tap.Conn {
	sender := httpserve.SenderOf(r, h.opts.Principal, h.proxies)
	if c := h.find(r, sender.Owner()); c != nil {
		return c.seen
	}
	return h.seen.Another()
}

// body reads the request's body. It returns a status other than 0 when the body is
// too long, does not arrive in time, or there is no room for it.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, from *era.Sender) ([]byte, *httpserve.Hold, int) {
	body, hold, err := httpserve.Body(w, r, from, h.memory, int64(h.opts.MaxMessageBytes), h.opts.ReadTimeout)
	switch {
	case errors.Is(err, httpserve.ErrLong):
		return nil, nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, httpserve.ErrBusy):
		w.Header().Set("Retry-After", "1")
		return nil, nil, http.StatusServiceUnavailable
	case err != nil:
		return nil, nil, http.StatusBadRequest
	}
	return body, hold, 0
}

// take serves the messages in a body, with the values of ctx. An error says why the body as a whole is
// refused. Each request runs on a goroutine of its own, which ends with the stream
// at the latest.
func (c *connection) take(ctx context.Context, body []byte, hold *httpserve.Hold, sender era.Sender) error {
	d := &era.Delivery{Out: c, Sender: sender, Start: func(r *era.Request) bool { //nolint:contextcheck // a request has its own context, made when it was admitted
		hold.Keep()
		c.calls.Keep()
		c.requests.Go(func() { // ends with the request, which drain cancels and waits for
			defer hold.Release()
			defer c.calls.End()
			r.Serve(sender)
		})
		return true
	}}
	if jsonrpc.IsBatch(body) {
		b, err := c.conversation.Batch(body)
		if err != nil {
			return err
		}
		return c.serve(!b.Quiet(), func() { b.Serve(ctx, d) })
	}
	m, err := c.conversation.Decode(body)
	if err != nil {
		c.conversation.Malformed(ctx, m, err)
		return err
	}
	err = c.serve(m.Kind == jsonrpc.Request, func() { c.conversation.Receive(ctx, m, nil, d) })
	if err != nil && m.Kind != jsonrpc.Request {
		c.seen.Drop(mcp.Received, mcp.DropClosed, m.Method, err)
	}
	return err
}

// serve runs f, which serves requests or other messages, unless the connection is ending,
// or no requests may begin any more.
func (c *connection) serve(requests bool, f func()) error {
	if requests {
		if !c.calls.Begin() {
			return era.ErrShutdown
		}
		defer c.calls.End()
	}
	c.mu.Lock()
	ending := c.ending
	if !ending {
		c.requests.Add(1)
	}
	c.mu.Unlock()
	if ending {
		return errEnded
	}
	defer c.requests.Done()
	f()
	return nil
}
