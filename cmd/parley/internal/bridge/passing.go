package bridge

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-mcp/parley/mcp"
)

// passing is a request on its way.
type passing struct {
	link   *link
	x      atomic.Pointer[mcp.Exchange] // by which its client can be reached now
	cancel context.CancelCauseFunc
	signal chan struct{} // a question waits for the client to come back
	done   chan struct{}
	result json.RawMessage
	err    error

	mu        sync.Mutex
	questions []*question // that wait for the client to come back
	asked     int
}

type passingKey struct{}

// await waits for the answer to a request. If a question has to be answered first,
// and the client can be asked only by an answer, the request is parked until the
// client comes back.
func (p *passing) await(ctx context.Context) (json.RawMessage, error) {
	stop := context.AfterFunc(ctx, func() { p.cancel(context.Cause(ctx)) })
	defer stop()
	for {
		select {
		case <-p.done:
			return p.result, p.err
		case <-p.signal:
			if ask := p.open(); ask != nil {
				return nil, p.link.b.parked.park(p, ask)
			}
		}
	}
}

// open returns the questions that wait for answers, or nil.
func (p *passing) open() *mcp.InputRequired {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.questions) == 0 {
		return nil
	}
	ask := new(mcp.InputRequired)
	for _, q := range p.questions {
		ask.Requests = append(ask.Requests, q.request)
	}
	return ask
}

// resume goes on with the answers that a client has brought. Questions that are still
// open are asked again.
func (p *passing) resume(x *mcp.Exchange) {
	p.x.Store(x)
	p.mu.Lock()
	p.questions = slices.DeleteFunc(p.questions, func(q *question) bool {
		answer := x.Answers[q.request.Key]
		if len(answer) == 0 || answer[0] != '{' {
			return false
		}
		q.answer <- answer
		return true
	})
	open := len(p.questions) > 0
	p.mu.Unlock()
	if open {
		p.wake()
	}
}

func (p *passing) wake() {
	select {
	case p.signal <- struct{}{}:
	default: // it is known already
	}
}

// forget removes a question that nobody wants the answer to any more.
func (p *passing) forget(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.questions = slices.DeleteFunc(p.questions, func(other *question) bool { return other == q })
}
