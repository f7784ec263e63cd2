package streamable

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// serveStateless serves one message of the stateless era on the goroutine of its
// HTTP request, and leaves no state behind. version is the one that the message
// names, or nil.
func (h *Handler) serveStateless(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, version json.RawMessage, sender era.Sender) {
	if m.Kind == jsonrpc.Response {
		httpserve.ConnOf(w, h.seen).Drop(mcp.Received, mcp.DropUnasked, "", nil)
		h.refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "a client sends no responses in this revision")
		return
	}
	err := checkHeaders(r, m, version)
	if version == nil {
		err = h.checkUnnamed(r, m)
	}
	if err != nil {
		h.dropped(w, m, err)
		h.refuseMessage(w, http.StatusBadRequest, m.ID, err)
		return
	}
	sender.Mirrored, sender.Seen = mirrored(r), httpserve.ConnOf(w, h.seen)
	own := h.begin(r, m)
	if own == nil {
		h.refuseLate(w, m.ID)
		return
	}
	defer h.end(own)
	ctx := context.Context(own)
	if m.Kind == jsonrpc.Notification {
		// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (5).
		h.stateless.Receive(ctx, m, nil, sender)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == mcp.MethodListen {
		var stop context.CancelFunc
		ctx, stop = era.UntilExpiry(ctx, sender.Authorization)
		defer stop()
	}
	resp := h.response(w, own.End)
	defer resp.Close()
	h.stateless.Receive(ctx, m, reply{resp}, sender)
}

// begin returns the context of a message, which Close cancels, too. It returns nil for
// a request that came after Drain.
func (h *Handler) begin(r *http.Request, m *jsonrpc.Message) *era.Context {
	if !h.mayBegin(m) {
		return nil
	}
	c := era.NewContext(r.Context())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[c] = isCall(m)
	if h.ctx.Err() != nil {
		c.End(era.ErrShutdown)
	}
	return c
}

func (h *Handler) end(c *era.Context) {
	h.mu.Lock()
	call := h.requests[c]
	delete(h.requests, c)
	h.mu.Unlock()
	if call {
		h.calls.End()
	}
	c.Release()
}
