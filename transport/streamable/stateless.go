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
	ctx, cancel := h.requestContext(r)
	defer cancel(nil)
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
	p := h.pen(w, func(error) { cancel(era.ErrCancelled) })
	defer p.Close()
	h.stateless.Receive(ctx, m, reply{p}, via)
}

// requestContext ends when the client closes the response, which cancels the
// request, and with the handler.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
func (h *Handler) requestContext(r *http.Request) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	stopClient := context.AfterFunc(r.Context(), func() { cancel(era.ErrCancelled) })
	stopServer := context.AfterFunc(h.ctx, func() { cancel(era.ErrShutdown) })
	return ctx, func(cause error) {
		stopClient()
		stopServer()
		cancel(cause)
	}
}
