package host

import (
	"context"
	"time"

	"github.com/parley-mcp/parley/client"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// listPause is the least time between two fetches of a server's list.
	listPause = time.Second
	// listenPause is how long a server that has ended the subscription is left alone.
	listenPause = time.Minute
	// checkTime is how long a server may take to say that it is there.
	checkTime = 10 * time.Second
)

// keeper keeps one connection, and the list of tools up to date.
type keeper struct {
	*server

	client *client.Client
	sub    *client.Subscription // nil if the server announces no changes, or not now
	listed time.Time
	relist *time.Timer // nil unless the list is to be fetched
	resub  *time.Timer // nil unless the subscription is to be opened again
}

// listen subscribes to changes of the list, before it is fetched, so that none is missed.
func (k *keeper) listen(ctx context.Context) {
	offered := k.client.ServerCapabilities().Tools
	if offered == nil || !offered.ListChanged {
		return
	}
	var err error
	k.sub, err = k.client.Listen(ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, func(context.Context, client.Event) { signal(k.stale) })
	if err != nil {
		k.sub = nil
		k.logger.WarnContext(ctx, "changes of the list of tools will be noticed late", "error", err)
		k.resub = time.NewTimer(listenPause)
	}
}

// fetch fetches the list of tools.
func (k *keeper) fetch(ctx context.Context) ([]*mcp.Tool, error) {
	k.listed = time.Now()
	if k.client.ServerCapabilities().Tools == nil {
		return nil, nil
	}
	return client.Collect(k.client.Tools(ctx, client.WithFresh()))
}

// keep waits for the end of the connection, and returns the reason.
func (k *keeper) keep(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-k.client.Done():
			return k.client.Err()
		case <-k.again:
			return errAgain
		case <-k.suspect:
			if err := k.client.Ping(ctx, client.WithTimeout(checkTime)); err != nil {
				return err
			}
		case <-k.stale:
			if k.relist == nil {
				k.relist = time.NewTimer(listPause - time.Since(k.listed))
			}
		case <-due(k.relist):
			k.relist = nil
			k.update(ctx)
		case <-ended(k.sub):
			k.logger.WarnContext(ctx, "the server has ended the subscription to changes", "error", k.sub.Err())
			k.sub, k.resub = nil, time.NewTimer(listenPause)
		case <-due(k.resub):
			k.resub = nil
			if k.listen(ctx); k.sub != nil {
				signal(k.stale)
			}
		}
	}
}

// update fetches the list anew. If that fails, the one before is kept.
func (k *keeper) update(ctx context.Context) {
	tools, err := k.fetch(ctx)
	if err != nil {
		k.logger.WarnContext(ctx, "the list of tools has changed, and cannot be fetched", "error", err)
		signal(k.suspect)
		return
	}
	k.relisted(tools)
}

func (k *keeper) close() {
	for _, timer := range []*time.Timer{k.relist, k.resub} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// due returns the channel of a timer; nil for none.
func due(t *time.Timer) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// ended returns a channel that is closed when a subscription has ended; nil for none.
func ended(s *client.Subscription) <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.Done()
}
