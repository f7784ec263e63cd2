package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	qrules "github.com/parley-mcp/parley/internal/question"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// question is a question of the other server that is not answered yet.
type question struct {
	request mcp.InputRequest
	answer  chan answered // gets the answer, once
	// adopt gets the call through which a question is asked that belongs to none, and
	// asked is closed once the client has been asked, or has been told to come back.
	adopt chan *passing
	asked chan struct{}
	once  sync.Once
	of    asker // whose call that has to be; nobody if it may be any
}

// answered is what became of a question.
type answered struct {
	raw json.RawMessage
	err error
}

func newQuestion(method string, params any) *question {
	return &question{
		request: mcp.InputRequest{Method: method, Params: params},
		answer:  make(chan answered, 1), adopt: make(chan *passing, 1), asked: make(chan struct{}),
	}
}

const (
	// maxOrphans bounds the questions of a connection that belong to no call.
	maxOrphans = 16
	// orphanage is how long such a question waits for a call.
	orphanage = time.Minute
)

var (
	errWhom     = errors.New("several clients share this connection, and it is not known which of them is meant")
	errNoAnswer = errors.New("the answer of the client is no object")
	errNobody   = errors.New("the client has sent no request through which it could be asked")
)

// answer answers a question of the other server: it asks the client whose call the
// question belongs to.
func (l *link) answer(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := newQuestion(method, nil)
	defer q.once.Do(func() { close(q.asked) })
	if params != nil {
		q.request.Params = params
	}
	p, err := l.callOf(ctx, q)
	if err == nil && l.b.tasks.ofOthers(params, p) {
		err = errWhom
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if id, ok := wire.Text(wire.Find(params, "elicitationId")); ok && method == mcp.MethodElicit {
		l.visits.begin(id, p.x.Load().Back)
	}
	return p.ask(ctx, q)
}

// callOf returns the call that a question belongs to. Any will do of the only client whose
// calls are under way, or who uses the connection; if there is none, the question waits for
// the next. Servers ask for the roots as soon as they can, for example.
func (l *link) callOf(ctx context.Context, q *question) (*passing, error) {
	if p, ok := ctx.Value(passingKey{}).(*passing); ok && l.knows(ctx) {
		return p, nil
	}
	of, n := l.b.pool.asked(l)
	if n > 1 || n == 0 && !l.b.single(l) {
		return nil, errWhom
	}
	l.mu.Lock()
	q.of = of
	p := l.latest(of)
	switch {
	case p != nil:
		defer l.mu.Unlock()
		return p, nil
	case len(l.orphans) >= maxOrphans:
		defer l.mu.Unlock()
		return nil, errNobody
	}
	l.orphans = append(l.orphans, q)
	l.mu.Unlock()
	return l.adopted(ctx, q)
}

// latest returns the latest call of an asker, or of anybody; nil if there is none. The
// caller holds l.mu.
func (l *link) latest(of asker) *passing {
	for _, p := range slices.Backward(l.calls) {
		if !of.asks || p.by == of {
			return p
		}
	}
	return nil
}

// adopted waits for a call through which an orphan can be asked.
func (l *link) adopted(ctx context.Context, q *question) (*passing, error) {
	timer := time.NewTimer(orphanage)
	defer timer.Stop()
	var err error
	select {
	case p := <-q.adopt:
		return p, nil
	case <-timer.C:
		err = errNobody
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.orphans = slices.DeleteFunc(l.orphans, func(other *question) bool { return other == q })
	return nil, err
}

// settled gives an orphan to a call, and waits until the client knows of it: what the
// call means may depend on the answer.
func (q *question) settled(ctx context.Context, p *passing) {
	q.adopt <- p
	select {
	case <-q.asked:
	case <-ctx.Done():
	}
}

// ask asks the client of a call. Where that takes an answer to the request, the
// question waits for the client to come back.
func (p *passing) ask(ctx context.Context, q *question) (json.RawMessage, error) {
	if answer, err := p.askNow(ctx, q); answer != nil || err != nil {
		return answer, err
	}
	p.mu.Lock()
	p.questions = append(p.questions, q)
	t := p.task
	p.mu.Unlock()
	p.wake()
	t.changed()
	q.once.Do(func() { close(q.asked) })
	select {
	case a := <-q.answer:
		return a.raw, a.err
	case <-ctx.Done():
		p.forget(q)
		return nil, context.Cause(ctx)
	}
}

// askNow asks the client of a call by the exchange that there is now. There is neither an
// answer nor an error if the client has to come back for that, or to look after its task.
func (p *passing) askNow(ctx context.Context, q *question) (json.RawMessage, error) {
	p.mu.Lock()
	p.asked++
	q.request.Key = fmt.Sprintf("question-%d", p.asked)
	held := p.task != nil
	p.mu.Unlock()
	x := p.x.Load()
	if held || x.Task != nil && p.done != nil { // it becomes a task
		return nil, qrules.Missing(q.request, &x.Peer.Capabilities)
	}
	answers, err := x.Back.Input(ctx, q.request)
	if _, later := errors.AsType[*mcp.InputRequired](err); later {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}
