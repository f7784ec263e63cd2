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
func (h *Handler) Drain(ctx context.Context) error { return h.calls.Drain(ctx) }

// isCall reports whether a message is a request that ends by itself.
func isCall(m *jsonrpc.Message) bool {
	return m.Kind == jsonrpc.Request && m.Method != mcp.MethodListen
}

// mayBegin reports whether a message is served. If it is a call, it is in flight from now
// on.
func (h *Handler) mayBegin(m *jsonrpc.Message) bool {
	if isCall(m) {
		return h.calls.Begin()
	}
	return m.Kind != jsonrpc.Request || !h.calls.Draining()
}

// refuseLate refuses a request that came after Drain. It was not begun, so a proxy or
// the client may send it again, to another node.
func (h *Handler) refuseLate(w http.ResponseWriter, id jsonrpc.ID) {
	w.Header().Set("Retry-After", "1")
	h.refuseMessage(w, http.StatusServiceUnavailable, id, errEnding)
}

var errEnding = jsonrpc.Errorf(jsonrpc.CodeInternalError, "the server is shutting down")
