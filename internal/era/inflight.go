package era

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// inFlight holds the requests of one connection that are being served, of both
// eras: a cancellation names only an ID. The zero value is ready.
//
// Requests are registered by whoever reads the connection, before they run;
// otherwise a cancellation could overtake its request.
type inFlight struct {
	mu      sync.Mutex
	running map[jsonrpc.ID]running
	over    error // the cause given to cancelAll; nil before
}

type running struct {
	ctx    *Context
	listen bool
}

// add registers a request and returns the context to serve it with. It fails
// when the ID is in use, or when limit requests are being served.
//
// Spec: 2026-07-28 basic#requests.
func (f *inFlight) add(ctx context.Context, m *jsonrpc.Message, limit int) (*Context, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.running[m.ID]; ok {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "a request with id %s is already being served", m.ID)
	}
	if len(f.running) >= limit {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInternalError, "too many requests at a time: the limit is %d", limit)
	}
	if f.running == nil {
		f.running = make(map[jsonrpc.ID]running)
	}
	own := NewContext(ctx)
	f.running[m.ID] = running{own, m.Method == mcp.MethodListen}
	if f.over != nil {
		own.End(f.over)
	}
	return own, nil
}

// remove forgets a request that was answered and releases its context.
func (f *inFlight) remove(id jsonrpc.ID) {
	f.mu.Lock()
	r, ok := f.running[id]
	delete(f.running, id)
	f.mu.Unlock()
	if ok {
		r.ctx.Release()
	}
}

// cancel ends a request with a cause, and reports whether it was in flight: the
// cancellation may have crossed the answer.
//
// Spec: 2026-07-28 basic/patterns/cancellation#timing-considerations.
func (f *inFlight) cancel(id jsonrpc.ID, cause error) bool {
	f.mu.Lock()
	r, ok := f.running[id]
	f.mu.Unlock()
	if ok {
		r.ctx.End(cause)
	}
	return ok
}

// cancelAll ends every request with a cause, including those registered later:
// whoever waits for the last one must not wait for a latecomer.
func (f *inFlight) cancelAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = cause
	for _, r := range f.running {
		r.ctx.End(cause)
	}
}

// cancelListens ends the subscriptions, which never end by themselves.
func (f *inFlight) cancelListens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.running {
		if r.listen {
			r.ctx.End(ErrShutdown)
		}
	}
}

// notice handles a notification that cancels a request, logs the reason to log,
// which may be nil, and reports whether m was one. Malformed ones, and those for a
// request that is not being served, are only recorded as dropped.
//
// Spec: 2026-07-28 basic/patterns/cancellation#error-handling.
func (f *inFlight) notice(m *jsonrpc.Message, seen *tap.Conn, log *slog.Logger) bool {
	var (
		id    jsonrpc.ID
		cause error
		bad   error
	)
	switch m.Method {
	case mcp.NoteCancelled:
		var p mcp.CancelledParams
		bad = wire.Unmarshal(m.Params, &p)
		id, cause = p.RequestID, cancelled(p.Reason)
	case "$/cancelRequest":
		var p struct {
			ID jsonrpc.ID `json:"id"`
		}
		bad = wire.Unmarshal(m.Params, &p)
		id, cause = p.ID, ErrCancelRequest
	default:
		return false
	}
	switch {
	case bad != nil:
		seen.Drop(mcp.Received, mcp.DropMalformed, m.Method, bad)
	case !f.cancel(id, cause):
		seen.Drop(mcp.Received, mcp.DropNoCall, m.Method, nil)
	case log != nil:
		// Spec: 2026-07-28 basic/patterns/cancellation#implementation-notes.
		log.Debug("the client cancelled a request", "id", id.String(), "reason", Brief(cause.Error()))
	}
	return true
}

// Brief returns the beginning of a peer's words, for a line of a log.
func Brief(words string) string {
	const most = 256 // bytes
	if len(words) <= most {
		return words
	}
	return strings.ToValidUTF8(words[:most], "") + "…"
}
