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
	over map[string]chan struct{}
}

// maxVisits bounds what a server can make the client remember.
const maxVisits = 256

// of returns the channel that is closed when a visit is over.
func (v *visits) of(id string) chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	ch, ok := v.over[id]
	if !ok {
		ch = make(chan struct{})
		if v.over == nil || len(v.over) >= maxVisits {
			v.over = make(map[string]chan struct{})
		}
		v.over[id] = ch
	}
	return ch
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
	v.mu.Lock()
	defer v.mu.Unlock()
	ch, ok := v.over[p.ElicitationID]
	if !ok {
		return mcp.DropNoCall
	}
	select {
	case <-ch: // it was over already
		return mcp.DropRepeated
	default:
		close(ch)
	}
	return 0
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
	select {
	case <-a.visits.of(id):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
