package streamable

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/httpserve"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// serveStateless serves one request that stands alone, on the goroutine of
// its HTTP request: nothing of it is left when it returns.
func (h *Handler) serveStateless(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message, via era.Via) {
	if m.Kind == jsonrpc.Response {
		h.refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "a client sends no responses in this revision")
		return
	}
	if err := checkHeaders(r, m); err != nil {
		h.refuseMessage(w, http.StatusBadRequest, m.ID, err)
		return
	}
	via.Mirrored = mirrored(r)
	ctx, cancel := context.WithCancelCause(r.Context())
	h.begin(ctx, cancel)
	defer h.end(ctx, cancel)
	if m.Kind == jsonrpc.Notification {
		// Spec: 2026-07-28 basic/transports/streamable-http#sending-messages (5).
		h.stateless.Receive(ctx, m, nil, via)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == mcp.MethodListen {
		var stop context.CancelFunc
		ctx, stop = httpserve.UntilExpiry(ctx, via.Authorization)
		defer stop()
	}
	p := h.pen(w, cancel)
	defer p.Close()
	h.stateless.Receive(ctx, m, reply{p}, via)
}

// begin makes the context of a request end with the handler. That it ends when
// the client closes the response, which cancels the request, is net/http's work.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
func (h *Handler) begin(ctx context.Context, cancel context.CancelCauseFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[ctx] = cancel
	if h.ctx.Err() != nil {
		cancel(era.ErrShutdown)
	}
}

func (h *Handler) end(ctx context.Context, cancel context.CancelCauseFunc) {
	h.mu.Lock()
	delete(h.requests, ctx)
	h.mu.Unlock()
	cancel(nil)
}
