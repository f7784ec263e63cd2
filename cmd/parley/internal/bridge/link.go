package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// link is a connection to the other server, and what is going on there.
type link struct {
	b      *Bridge
	peer   mcp.Peer      // who it is for
	ready  chan struct{} // closed when it is connected, or has failed with err
	leave  chan struct{} // closed when it is taken out of use
	err    error
	client *client.Client

	// Guarded by pool.mu.
	key   string
	owned bool // by a session, with which it ends
	users int  // calls and subscriptions
	since time.Time

	mu      sync.Mutex
	calls   []*passing       // those in flight through which the client can be asked
	orphans []*question      // that belong to no call
	level   mcp.LoggingLevel // of the log messages that the server sends
	whose   map[string]bool  // the principals who have said something here, at most two

	visits   visits
	supports supports
}

func newLink(b *Bridge, peer mcp.Peer) *link {
	return &link{b: b, peer: peer, ready: make(chan struct{}), leave: make(chan struct{}), since: time.Now()}
}

// connect connects to the server, as a client with the capabilities of those it is for.
func (l *link) connect(ctx context.Context) error {
	c, err := l.b.opts.Connect(ctx, &l.peer, &client.Options{
		Capabilities: &l.peer.Capabilities,
		Answer:       l.answer,
		Logger:       l.b.opts.Logger,
		Notification: l.unclaimed,
		NoCache:      true, // the clients have caches of their own
		Timeout:      l.b.opts.Timeout,
		MaxTimeout:   -1,
	})
	if err != nil {
		return err
	}
	l.client = c
	l.b.describe(c)
	l.overhear(ctx)
	l.b.work.Go(func() { // ends with the connection, which Close closes
		<-c.Done()
		l.b.pool.ended(l, c.Err())
	})
	return nil
}

// close ends the connection, and the calls on it.
func (l *link) close() {
	<-l.ready
	if l.client != nil {
		_ = l.client.Close() // nothing can be done about it
	}
}

// over reports whether the connection has been lost.
func (l *link) over() bool {
	select {
	case <-l.ready:
	default:
		return false
	}
	if l.client == nil {
		return false
	}
	select {
	case <-l.client.Done():
		return true
	default:
		return false
	}
}

// unclaimed passes on what the server says without naming a call: on the connection of
// one client by any of its calls, as it may be about each of them. If there is none, it is
// logged, because there is no way to the client.
func (l *link) unclaimed(ctx context.Context, method string, params json.RawMessage) {
	if method == mcp.NoteElicitationComplete && l.visits.complete(ctx, params) {
		return
	}
	if l.b.single(l) {
		l.mu.Lock()
		var p *passing
		if n := len(l.calls); n > 0 {
			p = l.calls[n-1]
		}
		l.mu.Unlock()
		if p != nil {
			_ = p.x.Load().Back.Notify(ctx, method, params) // the client is gone, or does not want it
			return
		}
	}
	l.astray(method, params)
}

// astray logs what the server says to nobody who is known.
func (l *link) astray(method string, params json.RawMessage) {
	l.b.opts.Logger.Info("the server said something that belongs to no call", "method", method, "params", string(params))
}

// parks reports whether a request may have to wait for its client to come back: for a
// client that can be asked only by an answer, and a server that asks while it works.
func (l *link) parks(x *mcp.Exchange) bool {
	return era.StatelessRevision(x.Peer.Revision) && !era.StatelessRevision(l.client.Revision()) && era.CanAsk(x)
}

// begin passes a request on whose client may have to come back with answers, in another
// exchange: so it outlives this one.
func (l *link) begin(ctx context.Context, p *passing) {
	run, cancel := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), passingKey{}, p))
	p.ctx, p.cancel, p.signal, p.done = run, cancel, make(chan struct{}, 1), make(chan struct{})
	orphans := l.add(p)
	l.b.pool.hold(l)
	l.b.work.Go(func() { // ends with the call
		defer l.b.pool.release(l)
		defer cancel(nil)
		defer p.end()
		stop := context.AfterFunc(l.b.ctx, func() { cancel(errClosed) }) //nolint:contextcheck // the bridge ends its calls
		defer stop()
		p.run(run, orphans)
	})
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
	if l.over() {
		p.err = &unsentError{l.client.Err()}
		return
	}
	l.follow(ctx, x.Back)
	sent := time.Now()
	p.result, p.err = p.call(ctx, x)
	l.settle(ctx, sent, p.err)
	if s := wire.Skim(p.result); p.err == nil && s.Next() != '{' {
		p.err = errNoObject
	}
}

// errNoObject is what becomes of an answer that no client could make sense of.
//
// Spec: 2025-11-25 basic#responses.
var errNoObject = errors.New("the result is no JSON object")

// lostSoon is how long it takes until a client knows that its connection is lost, after
// a call has failed because of that.
const lostSoon = 100 * time.Millisecond

// settle waits for the end of a connection on which a call has failed without an answer:
// whoever makes the call again should not get the same connection. One on which the call
// was turned away goes on.
func (l *link) settle(ctx context.Context, sent time.Time, err error) {
	_, answered := errors.AsType[*jsonrpc.Error](err)
	_, asks := errors.AsType[*mcp.InputRequired](err)
	if err == nil || answered || asks {
		l.b.opts.Answered(l.client, sent)
		return
	}
	if ctx.Err() != nil || errors.Is(err, client.ErrTimeout) || turnedAway(err) {
		return
	}
	timer := time.NewTimer(lostSoon)
	defer timer.Stop()
	select {
	case <-l.client.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// options say how a request is passed on.
func (p *passing) options(x *mcp.Exchange) []client.CallOption {
	opts := []client.CallOption{
		client.WithInputRequired(),
		client.WithAnswers(x.Answers, x.State),
		client.WithLogLevel(lowest(x.Back)),
		client.WithNotifications(func(ctx context.Context, method string, params json.RawMessage) {
			switch {
			case method == mcp.NoteElicitationComplete && p.link.visits.complete(ctx, params):
			case !p.link.knows(ctx):
				p.link.astray(method, params)
			default:
				p.notify(ctx, method, params)
			}
		}),
	}
	if !x.ProgressToken.IsZero() {
		opts = append(opts, client.WithProgress(nil))
	}
	return opts
}

// levels are the levels of log messages, the most talkative first.
var levels = []mcp.LoggingLevel{
	mcp.LevelDebug, mcp.LevelInfo, mcp.LevelNotice, mcp.LevelWarning,
	mcp.LevelError, mcp.LevelCritical, mcp.LevelAlert, mcp.LevelEmergency,
}

// lowest returns the lowest level of log messages that a client wants, or "".
func lowest(back mcp.Backchannel) mcp.LoggingLevel {
	for _, level := range levels {
		if back.LogEnabled(level) {
			return level
		}
	}
	return ""
}

// follow makes the server of a session send the log messages that a client wants. The
// level only ever falls: other calls may want more, and what a client does not want
// is left out on its side.
func (l *link) follow(ctx context.Context, back mcp.Backchannel) {
	if l.client.ServerCapabilities().Logging == nil {
		return
	}
	level := lowest(back)
	l.mu.Lock()
	falls := level != "" && (l.level == "" || level.Severity() < l.level.Severity())
	if falls {
		l.level = level
	}
	l.mu.Unlock()
	if !falls {
		return
	}
	if err := l.client.SetLogLevel(ctx, level); err != nil {
		l.b.opts.Logger.Warn("the server does not change its log level", "level", level, "error", err)
	}
}

// add registers a call, and returns the questions that have waited for one.
func (l *link) add(p *passing) []*question {
	if !era.CanAsk(p.x.Load()) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, p)
	orphans := l.orphans
	l.orphans = nil
	return orphans
}

// remove is the end of a call.
func (l *link) remove(p *passing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = slices.DeleteFunc(l.calls, func(other *passing) bool { return other == p })
}
