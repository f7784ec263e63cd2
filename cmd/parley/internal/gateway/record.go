package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// passedKey is where an exchange notes that it has become an operation, of which guards
// know already.
type passedKey struct{}

// recorded serves an exchange, and tells the recorders of it unless it was an operation.
func (v *View) recorded(ctx context.Context, s *setup, x *mcp.Exchange) (any, error) {
	begun, passed := time.Now(), new(bool)
	result, err := v.answer(context.WithValue(ctx, passedKey{}, passed), s, x)
	if *passed && x.Watch == nil {
		return result, err
	}
	e := &guard.Event{Exchange: x, View: v.name, Begun: begun, Result: result, Err: err}
	w, watching := result.(*mcp.Watching)
	if refused := s.record(e); refused != nil {
		if watching {
			w.Stop()
		}
		return nil, refused
	}
	if watching && x.Method != mcp.NoteInitialized { // which ends with its session: opened sees to that
		return v.recordedTo(w, x, begun), nil
	}
	return result, err
}

// recordedTo has recorders hear of the end of a subscription, too. They are those of the
// setup by then.
func (v *View) recordedTo(w *mcp.Watching, x *mcp.Exchange, begun time.Time) *mcp.Watching {
	kept := &mcp.Exchange{ID: x.ID, Method: x.Method, Peer: x.Peer, Trace: x.Trace}
	told := *w
	told.Stop = sync.OnceFunc(func() {
		w.Stop()
		_ = v.g.current.Load().record(&guard.Event{Exchange: kept, View: v.name, Over: true, Begun: begun}) // it has ended anyway
	})
	return &told
}

// record tells the recorders.
func (s *setup) record(e *guard.Event) error {
	var errs []error
	for _, r := range s.recorders {
		errs = append(errs, r.Record(e))
	}
	return errors.Join(errs...)
}
