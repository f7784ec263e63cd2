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
	ctx, req := h.begin(r)
	defer req.end()
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
	p := h.pen(w, req.broken)
	defer p.Close()
	h.stateless.Receive(ctx, m, reply{p}, via)
}

// underway is a stateless request that is being served.
type underway struct {
	h      *Handler
	cancel context.CancelCauseFunc
}

// begin returns a context that ends when the client closes the response, which
// cancels the request, and with the handler.
//
// Spec: 2026-07-28 basic/transports/streamable-http#cancellation.
func (h *Handler) begin(r *http.Request) (context.Context, *underway) {
	ctx, cancel := context.WithCancelCause(r.Context())
	u := &underway{h, cancel}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[u] = struct{}{}
	if h.ctx.Err() != nil {
		cancel(era.ErrShutdown)
	}
	return ctx, u
}

// broken says that the client does not take the response.
func (u *underway) broken(error) { u.cancel(era.ErrCancelled) }

func (u *underway) end() {
	u.h.mu.Lock()
	delete(u.h.requests, u)
	u.h.mu.Unlock()
	u.cancel(nil)
}
