package sse

import (
	"errors"
	"io"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/jsonrpc"
)

var errEnded = errors.New("the stream has ended")

// post takes what a client sends; the answers come on the stream.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, via era.Via) {
	c := h.find(r, via.Principal)
	if c == nil {
		http.Error(w, "no such stream; open one with GET", http.StatusNotFound)
		return
	}
	c.renew(via.Authorization)
	if err := httpserve.CheckType(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
		return
	}
	body, status := h.body(w, r)
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	via.SessionID = c.id
	switch err := h.take(c, body, via); {
	case errors.Is(err, errEnded):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "Accepted") // a client that is gone does not matter
	}
}

// find returns the conversation that a request names, if it may. Who names two
// names none: an intermediary may have read the other.
func (h *Handler) find(r *http.Request, principal string) *conversation {
	ids := r.URL.Query()["sessionId"]
	if len(ids) != 1 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.streams[ids[0]]
	if c == nil || c.principal != principal {
		return nil
	}
	return c
}

// body reads the request's body, within its bounds of size and time.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, int) {
	body, err := httpserve.Body(w, r, int64(h.opts.MaxMessageBytes), h.reads)
	switch {
	case errors.Is(err, httpserve.ErrLong):
		return nil, http.StatusRequestEntityTooLarge
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// take serves what a body says. Its error says why the body is refused as a
// whole.
func (h *Handler) take(c *conversation, body []byte, via era.Via) error {
	if jsonrpc.IsBatch(body) {
		return h.takeBatch(c, body, via)
	}
	m, err := h.decoder.Decode(body)
	if err != nil {
		return err
	}
	if !c.enter() {
		return errEnded
	}
	defer c.requests.Done()
	if err := h.serve(c, m, c, via); err != nil {
		refuse(c, m.ID, err)
	}
	return nil
}

// takeBatch serves an array of messages, whose answers come as an array, too.
//
// Spec: 2025-03-26 basic#batching.
func (h *Handler) takeBatch(c *conversation, body []byte, via era.Via) error {
	if f := c.session.Facts(); f == nil || !f.Batches {
		return errors.New("batches are part of revision 2025-03-26 only; send the messages one by one")
	}
	entries, err := h.decoder.DecodeBatch(body)
	if err != nil {
		return err
	}
	if !c.enter() {
		return errEnded
	}
	defer c.requests.Done()
	era.Misplaced(entries)
	b := era.NewBatch(entries, c, func(frame []byte) error { return c.Message(c.ctx, frame) })
	for _, e := range entries {
		h.entry(c, e, b, via)
	}
	return nil
}

// entry serves one message of a batch.
func (h *Handler) entry(c *conversation, e jsonrpc.Entry, b *era.Batch, via era.Via) {
	bad := e.Err
	if bad == nil {
		bad = h.serve(c, e.Message, b, via)
	}
	switch {
	case bad == nil:
	case e.Message.Kind == jsonrpc.Request:
		b.Refuse(e.Message.ID, bad)
	case e.Message.Kind == jsonrpc.Response: // the question that it answers fails
		failed := jsonrpc.Errorf(jsonrpc.CodeInternalError, "the client sent a malformed answer: %v", bad)
		c.session.Receive(c.ctx, jsonrpc.NewError(e.Message.ID, failed), c, via)
	default:
		h.opts.Logger.WarnContext(c.ctx, "notification ignored", "method", e.Message.Method, "reason", bad)
	}
}

// serve serves a message; out takes its answer. Requests run on a goroutine of
// their own, which ends with the stream at the latest. The caller has entered
// the conversation. An error says why a request is not served.
func (h *Handler) serve(c *conversation, m *jsonrpc.Message, out era.Out, via era.Via) error {
	switch {
	case m.Kind == jsonrpc.Notification && c.inflight.Notice(m):
		return nil
	case m.Kind != jsonrpc.Request, era.Inline(m):
		c.session.Receive(c.ctx, m, out, via)
		return nil
	}
	ctx, err := c.inflight.Add(c.ctx, m, h.opts.MaxInFlight)
	if err != nil {
		return err
	}
	settling := c.inflight.Settling(m.ID, out)
	c.requests.Go(func() { // ends with the request; drain cancels it and waits
		defer settling.Forget()
		c.session.Receive(ctx, m, settling, via)
	})
	return nil
}

// enter counts a POST in, unless the conversation is ending.
func (c *conversation) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ending {
		c.requests.Add(1)
	}
	return !c.ending
}

// refuse answers a request that is not served.
func refuse(c *conversation, id jsonrpc.ID, err error) {
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		rpc = jsonrpc.Errorf(jsonrpc.CodeInternalError, "internal error")
	}
	if frame, err := jsonrpc.Append(nil, jsonrpc.NewError(id, rpc)); err == nil {
		_ = c.Message(c.ctx, frame) // a client that is gone shows in the next write
	}
}
