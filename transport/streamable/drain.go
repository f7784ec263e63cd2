package streamable

import (
	"context"
	"net/http"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Drain lets the requests in flight finish: it waits until all of them are answered, or
// until ctx ends and its cause is returned. Call it before Close, which cancels what is
// left. From now on new requests, initialize included, are refused with 503; what
// belongs to those in flight still comes in: answers to the server's questions,
// cancellations, and clients that come back for a stream.
//
// Drain does not wait for what has no end of its own, subscriptions/listen and the
// streams of GET: they go on until Close.
func (h *Handler) Drain(ctx context.Context) error {
	select {
	case <-h.drain():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drain lets no calls begin any more. The channel is closed once none is in flight.
func (h *Handler) drain() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained == nil {
		h.drained = make(chan struct{})
		if h.calls == 0 {
			close(h.drained)
		}
	}
	return h.drained
}

// isCall reports whether a message is a request that ends by itself.
func isCall(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != mcp.MethodListen
}

// startCall counts a call as in flight, until endCall. It reports false after Drain.
func (h *Handler) startCall() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drained != nil {
		return false
	}
	h.calls++
	return true
}

func (h *Handler) endCall() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endCallLocked()
}

func (h *Handler) endCallLocked() {
	if h.calls--; h.calls == 0 && h.drained != nil {
		close(h.drained) // once: no call begins after Drain
	}
}

// refuseLate refuses a request that came after Drain. It was not begun, so a proxy or
// the client may send it again, to another node.
func (h *Handler) refuseLate(w http.ResponseWriter, id jsonrpc.ID) {
	w.Header().Set("Retry-After", "1")
	h.refuseMessage(w, http.StatusServiceUnavailable, id, errEnding)
}

var errEnding = jsonrpc.Errorf(jsonrpc.CodeInternalError, "the server is shutting down")
