package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/origins"
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
	names  bool            // it says which call a question belongs to
	trying context.Context //nolint:containedctx // the attempt to connect: it outlives the request that it is for
	giveUp context.CancelCauseFunc

	// Guarded by pool.mu.
	key       string
	principal string // whom it counts for, or ""
	owned     bool   // by a session, with which it ends
	users     int    // calls and subscriptions
	since     time.Time
	askers    map[asker]int // how many calls each has under way, or has given up lately

	mu      sync.Mutex
	calls   []*passing       // those in flight through which the client can be asked
	orphans []*question      // that belong to no call
	level   mcp.LoggingLevel // of the log messages that the server sends
	whose   map[string]bool  // the principals who have said something here, at most two

	visits   visits
	supports supports
}

func newLink(b *Bridge, peer mcp.Peer) *link {
	l := &link{b: b, peer: peer, ready: make(chan struct{}), leave: make(chan struct{}), since: time.Now()}
	l.trying, l.giveUp = context.WithCancelCause(b.ctx)
	return l
}

// connect connects to the server, as a client with the capabilities of those it is for.
func (l *link) connect(ctx context.Context) error {
	var streams atomic.Bool
	c, err := l.b.opts.Connect(origins.With(ctx, &streams), &l.peer, &client.Options{
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
	l.learn(streams.Load())
	l.b.describe(c)
	l.overhear(ctx)
	attend := func() { // ends with the connection, which Close closes
		<-c.Done()
		l.b.pool.ended(l, c.Err())
	}
	if !l.b.start(attend) {
		l.client = nil
		_ = c.Close() // nobody will use it
		return errClosed
	}
	return nil
}

var errUnwanted = errors.New("nobody wants the connection any more")

// close ends the connection, and the calls on it. One that is still being made is given up.
func (l *link) close() {
	l.giveUp(errUnwanted)
	<-l.ready
	if l.client != nil {
		_ = l.client.Close() // nothing can be done about it
	}
}

// over reports whether the connection has been lost.
func (l *link) over() bool {
	if !l.open() {
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

// astray logs that the server says something to nobody who is known. What it says may be
// a secret of somebody.
func (l *link) astray(method string, params json.RawMessage) {
	l.b.opts.Logger.Info("the server said something that belongs to no call", "method", method, "bytes", len(params))
}

// parks reports whether a request may have to wait for its client to come back: for a
// client that can be asked only by an answer, and a server that asks while it works.
func (l *link) parks(x *mcp.Exchange) bool {
	return era.StatelessRevision(x.Peer.Revision) && !era.StatelessRevision(l.client.Revision()) && era.CanAsk(x)
}

// lostSoon is how long it takes until a client knows that its connection is lost, after
// a call has failed because of that.
const lostSoon = 100 * time.Millisecond

// settle waits for the end of a connection on which a call has failed without an answer:
// whoever makes the call again should not get the same connection. One on which the call
// was turned away goes on. It reports whether the call was given up: the server may not
// know that yet.
func (l *link) settle(ctx context.Context, sent time.Time, err error) (givenUp bool) {
	_, answered := errors.AsType[*jsonrpc.Error](err)
	_, asks := errors.AsType[*mcp.InputRequired](err)
	if err == nil || answered || asks {
		l.b.opts.Answered(l.client, sent)
		return false
	}
	if givenUp = ctx.Err() != nil || errors.Is(err, client.ErrTimeout); givenUp || turnedAway(err) {
		return givenUp
	}
	timer := time.NewTimer(lostSoon)
	defer timer.Stop()
	select {
	case <-l.client.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() != nil
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
	var orphans []*question
	l.orphans = slices.DeleteFunc(l.orphans, func(q *question) bool {
		mine := !q.of.asks || q.of == p.by
		if mine {
			orphans = append(orphans, q)
		}
		return mine
	})
	return orphans
}

// remove is the end of a call.
func (l *link) remove(p *passing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = slices.DeleteFunc(l.calls, func(other *passing) bool { return other == p })
}
