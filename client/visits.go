package client

import (
	"context"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// visits tracks which URL elicitations of 2025-11-25 are over.
type visits struct {
	mu   sync.Mutex
	over map[string]*visit
}

// visit is a URL elicitation that a call may wait for.
type visit struct {
	over chan struct{} // closed when it is over
	why  error         // set before; nil: the call is repeated
}

// maxVisits bounds what a server can make the client remember.
const maxVisits = 256

// of returns the visit with an ID, which may not have begun yet.
func (v *visits) of(id string) *visit {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.over[id]
	if !ok {
		at = &visit{over: make(chan struct{})}
		if v.over == nil || len(v.over) >= maxVisits {
			v.over = make(map[string]*visit)
		}
		v.over[id] = at
	}
	return at
}

// finish ends a visit. It returns the reason why that is of no use, or 0.
func (v *visits) finish(id string, why error) mcp.DropReason {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.over[id]
	if !ok {
		return mcp.DropNoCall
	}
	if isClosed(at.over) {
		return mcp.DropRepeated
	}
	at.why = why
	close(at.over)
	return 0
}

// EndVisit ends the wait of a call whose server has required its user to visit a URL
// first, for a server that does not say when the visit is over: an error cancels the
// call, which fails with it, and nil repeats the call now. elicitationID is that
// of the params that Options.VisitURL got; EndVisit may be called as soon as VisitURL
// was. It reports whether a call waits for this visit, or is about to. Without it, the
// call waits for at most Options.MaxTimeout, and ends with its context.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (c *Client) EndVisit(elicitationID string, why error) bool {
	return c.visits.finish(elicitationID, why) == 0
}

func (v *visits) forget(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.over, id)
}

// complete ignores identifiers that nobody waits for.
//
// Spec: 2025-11-25 client/elicitation#completion-notifications-for-url-mode-elicitation.
func (v *visits) complete(m *jsonrpc.Message) mcp.DropReason {
	var p mcp.ElicitCompleteParams
	if wire.Unmarshal(m.Params, &p) != nil {
		return mcp.DropMalformed
	}
	return v.finish(p.ElicitationID, nil)
}

// Visited waits until the server says that a visit is over, for at most
// Options.MaxTimeout.
func (a *answers) Visited(ctx context.Context, id string) error {
	defer a.thinking()()
	defer a.visits.forget(id)
	if a.opts.MaxTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.opts.MaxTimeout, ErrTimeout)
		defer cancel()
	}
	at := a.visits.of(id)
	select {
	case <-at.over:
		return at.why
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
