package bridge

import (
	"context"
	"sync"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

// watch passes a subscription on.
func (b *Bridge) watch(ctx context.Context, x *mcp.Exchange) (any, error) {
	if x.Method == mcp.NoteInitialized {
		return b.session(x), nil //nolint:contextcheck // a session outlives the message that opens it
	}
	l, err := b.pool.get(ctx, &x.Peer)
	if err != nil {
		return nil, b.failure(ctx, x, err)
	}
	s, err := l.client.Listen(ctx, x.Watch.Filter, deliver(x.Watch))
	if err != nil {
		b.pool.release(l)
		return nil, b.failure(ctx, x, err)
	}
	return &mcp.Watching{Filter: s.Honoured(), Stop: sync.OnceFunc(func() {
		_ = s.Close() // always nil
		b.pool.release(l)
	})}, nil
}

// deliver passes changes on. After a gap anything may have changed.
func deliver(w *mcp.Watch) func(context.Context, client.Event) {
	filter := w.Filter
	return func(_ context.Context, e client.Event) {
		if !e.Gap {
			w.Deliver(e.Change)
			return
		}
		for _, kind := range []mcp.ChangeKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged} {
			if c := (mcp.Change{Kind: kind}); filter.Matches(c) {
				w.Deliver(c)
			}
		}
		for _, uri := range filter.ResourceSubscriptions {
			w.Deliver(mcp.Change{Kind: mcp.ResourceUpdated, URI: uri})
		}
		for _, id := range filter.TaskIDs {
			w.Deliver(mcp.Change{Kind: mcp.TaskChanged, URI: id})
		}
	}
}

// session opens the connection of a client that has opened a session, and subscribes
// to changes of the lists there. Both end with the session. It returns at once: the
// connection of the client is not read meanwhile.
func (b *Bridge) session(x *mcp.Exchange) *mcp.Watching {
	ctx, cancel := context.WithCancelCause(b.ctx)
	watch, peer := *x.Watch, x.Peer
	begun := make(chan func(), 1)
	b.work.Go(func() { // ends when the subscription is open
		begun <- b.listen(ctx, &watch, &peer)
	})
	return &mcp.Watching{Filter: watch.Filter, Stop: sync.OnceFunc(func() {
		cancel(errClosed)
		(<-begun)()
		if key, owned, err := keyOf(&peer); owned && err == nil {
			b.pool.over(key)
		}
	})}
}

// listen subscribes to changes of the lists, and returns what ends that.
func (b *Bridge) listen(ctx context.Context, watch *mcp.Watch, peer *mcp.Peer) (stop func()) {
	l, err := b.pool.get(ctx, peer)
	if err != nil {
		if ctx.Err() == nil { // otherwise the session is over already
			b.opts.Logger.Error("no connection for the session", "error", err)
		}
		return func() {}
	}
	s, err := l.client.Listen(ctx, watch.Filter, deliver(watch))
	if err != nil {
		b.opts.Logger.Warn("the client will not be notified of changed lists", "error", err)
		return func() { b.pool.release(l) }
	}
	return func() {
		_ = s.Close() // always nil
		b.pool.release(l)
	}
}
