package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// watch passes a subscription on.
func (b *Bridge) watch(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Method == mcp.NoteInitialized {
		return b.session(x), nil //nolint:contextcheck // a session outlives the message that opens it
	}
	w := &subscription{b: b, watch: *x.Watch, peer: x.Peer}
	l, s, err := w.open(ctx)
	if err != nil {
		return nil, b.failure(ctx, x, err)
	}
	return &mcp.Watching{Filter: s.Honoured(), Stop: w.keep(l, s)}, nil //nolint:contextcheck // a subscription outlives the request that opens it
}

// Await returns a subscription that is passed on as soon as that succeeds: the client is
// then told that anything may have changed. It is for servers that are known to be down.
func (b *Bridge) Await(x *mcp.Exchange) *mcp.Watching {
	w := &subscription{b: b, watch: *x.Watch, peer: x.Peer}
	return &mcp.Watching{Filter: w.watch.Filter, Stop: w.keep(nil, nil)}
}

// subscription is one that has been passed on. It outlives its connection: a client
// cannot be told that it has ended, and would wait for changes in vain.
type subscription struct {
	b     *Bridge
	watch mcp.Watch
	peer  mcp.Peer
}

// open subscribes on the connection of the client. The caller must release that.
func (w *subscription) open(ctx context.Context) (*link, *client.Subscription, error) {
	l, err := w.b.pool.get(ctx, want{peer: &w.peer, at: w.at()})
	if err != nil {
		return nil, nil, &unsentError{err}
	}
	if f := &w.watch.Filter; len(f.ResourceSubscriptions)+len(f.TaskIDs) > 0 {
		l.heard(mcp.MethodSubscribe, w.peer.Principal)
	}
	sent := time.Now()
	s, err := l.client.Listen(ctx, w.watch.Filter, func(_ context.Context, e client.Event) { w.deliver(e) })
	if err != nil {
		w.b.pool.release(l, asker{})
		return nil, nil, refused(err)
	}
	if len(w.watch.Filter.ResourceSubscriptions) > 0 { // lists are not asked for in a session
		w.b.opts.Answered(l.client, sent)
	}
	return l, s, nil
}

// at returns the connection of the tasks that a subscription is about, or nil.
func (w *subscription) at() *link {
	for _, id := range w.watch.Filter.TaskIDs {
		if l := w.b.tasks.linkOf(id); l != nil {
			return l
		}
	}
	return nil
}

// keep opens a subscription again when its connection is lost, or at first if there is
// none, until it is stopped.
func (w *subscription) keep(l *link, s *client.Subscription) (stop func()) {
	ctx, cancel := context.WithCancelCause(w.b.ctx)
	done := make(chan struct{})
	follow := func() { // ends with the subscription
		defer close(done)
		if l == nil {
			l, s = w.again(ctx)
		}
		for l != nil {
			select {
			case <-s.Done():
			case <-l.leave:
			case <-ctx.Done():
			}
			replaced := w.b.replaces(l)
			_ = s.Close() // always nil
			w.b.pool.release(l, asker{})
			if l = nil; replaced && ctx.Err() == nil {
				l, s = w.again(ctx)
			}
		}
	}
	if !w.b.start(follow) {
		follow() // ctx has ended: it only lets go of what it has
	}
	return func() {
		cancel(errClosed)
		<-done
	}
}

const (
	// firstPause is how long a subscription waits before it is opened again, at first,
	// and longestPause how long at most.
	firstPause   = 100 * time.Millisecond
	longestPause = time.Minute
)

// again opens a subscription until that succeeds, and then says that anything may have
// changed. It returns nil if the subscription was stopped.
func (w *subscription) again(ctx context.Context) (*link, *client.Subscription) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, nil
		}
		l, s, err := w.open(ctx)
		if err == nil {
			w.deliver(client.Event{Gap: true})
			return l, s
		}
		w.b.opts.Logger.Debug("a subscription is interrupted", "error", err)
	}
}

// deliver passes changes on. After a gap anything may have changed.
func (w *subscription) deliver(e client.Event) {
	if !e.Gap {
		w.watch.Deliver(e.Change)
		return
	}
	filter := &w.watch.Filter
	for _, kind := range lists {
		if c := (mcp.Change{Kind: kind}); filter.Matches(c) {
			w.watch.Deliver(c)
		}
	}
	for _, uri := range filter.ResourceSubscriptions {
		w.watch.Deliver(mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
	}
	for _, id := range filter.TaskIDs {
		w.watch.Deliver(mcp.Change{Kind: mcp.TaskChanged, URI: id})
	}
}

// lists are the kinds of changes that are about a list.
var lists = []mcp.ChangeKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged}

// overhearing bounds how long a new connection waits for the server to agree to say
// when its lists change.
const overhearing = 5 * time.Second

// overhear tells Options.Changed when the lists change. The subscription ends with the
// connection, and does not keep it from being closed when it is idle.
func (l *link) overhear(ctx context.Context) {
	caps := l.client.ServerCapabilities()
	filter := mcp.SubscriptionFilter{
		ToolsListChanged:     caps.Tools != nil && caps.Tools.ListChanged,
		PromptsListChanged:   caps.Prompts != nil && caps.Prompts.ListChanged,
		ResourcesListChanged: caps.Resources != nil && caps.Resources.ListChanged,
	}
	none := !filter.ToolsListChanged && !filter.PromptsListChanged && !filter.ResourcesListChanged
	if l.b.opts.Changed == nil || none {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, overhearing)
	defer cancel()
	changed := &subscription{b: l.b, watch: mcp.Watch{Filter: filter, Deliver: func(c mcp.Change) { l.b.opts.Changed(&l.peer, c.Kind) }}}
	_, err := l.client.Listen(ctx, filter, func(_ context.Context, e client.Event) { changed.deliver(e) })
	if err != nil {
		l.b.opts.Logger.Warn("nobody will be notified of changed lists", "error", err)
	}
}

// session opens the connection of a client that has opened a session, and subscribes
// to changes of the lists there. Both end with the session. It returns at once: the
// connection of the client is not read meanwhile.
func (b *Bridge) session(x *mcp.Exchange) *mcp.Watching {
	ctx, cancel := context.WithCancelCause(b.ctx)
	w := &subscription{b: b, watch: *x.Watch, peer: x.Peer}
	begun := make(chan func(), 1)
	begin := func() { begun <- w.begin(ctx) } // ends when the subscription is open
	if !b.start(begin) {
		begun <- func() {}
	}
	return &mcp.Watching{Filter: w.watch.Filter, Stop: sync.OnceFunc(func() {
		cancel(errClosed)
		(<-begun)()
		b.Over(&w.peer)
	})}
}

// begin subscribes to changes of the lists for a session, and returns what ends that.
// The connection is the session's even if the server does not agree.
func (w *subscription) begin(ctx context.Context) (stop func()) {
	l, err := w.b.pool.get(ctx, want{peer: &w.peer})
	if err != nil {
		if ctx.Err() == nil { // otherwise the session is over already
			w.b.opts.Logger.Error("no connection for the session", "error", err)
		}
		return func() {}
	}
	s, err := l.client.Listen(ctx, w.watch.Filter, func(_ context.Context, e client.Event) { w.deliver(e) })
	if err != nil {
		w.b.opts.Logger.Warn("the client will not be notified of changed lists", "error", err)
		return func() { w.b.pool.release(l, asker{}) }
	}
	return w.keep(l, s) //nolint:contextcheck // as in watch
}
