package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// passing is a request on its way.
type passing struct {
	link   *link
	by     asker
	x      atomic.Pointer[mcp.Exchange] // by which its client can be reached now
	result json.RawMessage
	err    error

	// demands says that the server of a session is asked for a task.
	demands bool

	// Only of a call that may be parked, or be a task.
	ctx    context.Context //nolint:containedctx // the call's own: it outlives the exchange
	cancel context.CancelCauseFunc
	signal chan struct{} // a question waits for the client to come back
	done   chan struct{}

	mu        sync.Mutex
	questions []*question // that wait for the client to come back
	asked     int
	task      *task // that the call has become; nil if it has not
}

type passingKey struct{}

// detach prepares a request for outliving its exchange: its client may have to come back
// with answers, in another one.
func (p *passing) detach(ctx context.Context) {
	p.ctx, p.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), passingKey{}, p))
	p.signal, p.done = make(chan struct{}, 1), make(chan struct{})
}

// begin passes a detached request on.
func (l *link) begin(p *passing) {
	orphans := l.add(p)
	l.b.pool.hold(l, p.by)
	work := func() { // ends with the call
		defer l.b.pool.release(l, p.by)
		defer p.cancel(nil)
		defer p.end()
		stop := context.AfterFunc(l.b.ctx, func() { p.cancel(errClosed) })
		defer stop()
		p.run(p.ctx, orphans)
	}
	if !l.b.start(work) {
		p.cancel(errClosed)
		work() // it ends at once
	}
}

// end says that the call is over.
func (p *passing) end() {
	close(p.done)
	p.mu.Lock()
	t := p.task
	p.mu.Unlock()
	t.ended()
}

// run makes the call, once the questions are settled that have waited for one.
func (p *passing) run(ctx context.Context, orphans []*question) {
	l, x := p.link, p.x.Load()
	defer l.remove(p)
	for _, q := range orphans {
		q.settled(ctx, p)
	}
	switch {
	case ctx.Err() != nil:
		p.err = &unsentError{context.Cause(ctx)}
		return
	case l.over():
		p.err = &unsentError{l.client.Err()}
		return
	}
	l.follow(ctx, x.Back)
	sent := time.Now()
	p.result, p.err = p.call(ctx, x)
	if l.settle(ctx, sent, p.err) {
		l.b.pool.haunted(l, p.by)
	}
	if s := wire.Skim(p.result); p.err == nil && s.Next() != '{' {
		p.err = errNoObject
	}
}

// errNoObject is what becomes of an answer that no client could make sense of.
//
// Spec: 2025-11-25 basic#responses.
var errNoObject = errors.New("the result is no JSON object")

// await waits for the answer to a request. If a question has to be answered first,
// and the client can be asked only by an answer, the request becomes a task, if the client
// can take one, or is parked until the client comes back. One that takes long becomes a
// task, too.
func (p *passing) await(ctx context.Context) (json.RawMessage, error) {
	stop := context.AfterFunc(ctx, func() { p.cancel(context.Cause(ctx)) })
	defer stop()
	tasks := &p.link.b.tasks
	var due <-chan time.Time
	if x := p.x.Load(); x.Task != nil && x.ProgressToken.IsZero() { // progress is of no use once there is a task
		timer := time.NewTimer(taskAfter)
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-p.done:
			return p.result, p.err
		case <-due:
			if t, err := tasks.hold(p, nil); err == nil {
				return t.handOut()
			}
		case <-p.signal:
			ask := p.open()
			if ask == nil || ctx.Err() != nil { // a client that is gone will not come back
				continue
			}
			if p.x.Load().Task != nil {
				if t, err := tasks.hold(p, nil); err == nil {
					return t.handOut()
				}
			}
			return nil, p.link.b.parked.park(p, ask)
		}
	}
}

// over reports whether the request has been answered, or has failed.
func (p *passing) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
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
	p.answer(x.Answers)
	if p.open() != nil {
		p.wake()
	}
}

// answer gives answers to open questions, by their keys.
func (p *passing) answer(answers map[string]json.RawMessage) {
	p.settle(func(q *question) (answered, bool) {
		raw := answers[q.request.Key]
		return answered{raw: raw}, len(raw) > 0 && raw[0] == '{'
	})
}

// settle takes those questions away that get an answer.
func (p *passing) settle(answer func(*question) (answered, bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.questions = slices.DeleteFunc(p.questions, func(q *question) bool {
		a, ok := answer(q)
		if ok {
			q.answer <- a
		}
		return ok
	})
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
