package era

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// maxSubscriptions bounds how many resources one session, or one subscription of
// the stateless era, can subscribe to: each takes memory as long as it lasts.
const maxSubscriptions = 10_000

// listen serves an exchange that runs until it is cancelled: it notifies the
// client of changes, each tagged with the ID of the request that subscribed.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
func (s *Stateless) listen(ctx context.Context, x *mcp.Exchange, back *returnPath, desc *mcp.Description) (any, error) {
	opened := make(chan *subscription)
	go func() { // ends when the subscription is acknowledged; received from just below
		opened <- s.open(ctx, x, back, desc)
	}()
	sub := <-opened
	defer sub.due.Stop()
	defer func() {
		sub.stop()
		sub.queue.drop(mcp.DropClosed, context.Cause(ctx))
	}()
	if sub.err == nil {
		sub.err = s.tell(ctx, back, sub)
	}
	if sub.err != nil {
		return nil, sub.err
	}
	return s.ended(ctx, back, x, sub.meta, &desc.Info)
}

// subscription is what a client listens to.
type subscription struct {
	meta  mcp.Meta        // of each of its notifications
	text  json.RawMessage // meta, encoded
	queue changes
	due   *time.Timer // runs while changes are queued
	stop  func()
	of    *mcp.Exchange // that opened it
	by    *named
	err   error // why it was not opened
}

// open begins a subscription and acknowledges it. It runs on a goroutine of its
// own: decoding and encoding grow the stack, and that of the goroutine which then
// waits, perhaps for days, should stay small.
func (s *Stateless) open(ctx context.Context, x *mcp.Exchange, back *returnPath, desc *mcp.Description) (sub *subscription) {
	sub = &subscription{of: x, by: s.name.brief(&desc.Info), due: time.NewTimer(0), stop: func() {}}
	sub.queue.conn = back.seen
	sub.due.Stop()
	var result any // rescue wants one; there is none yet
	defer rescue(ctx, s.handler, x.Method, s.opts.Logger, &result, &sub.err)
	filter, err := wanted(x, &desc.Capabilities)
	if err != nil {
		sub.err = err
		return sub
	}
	sub.meta = mcp.Meta{mcp.MetaSubscriptionID: []byte(x.ID.String())}
	if sub.text, sub.err = wire.Marshal(sub.meta); sub.err != nil {
		return sub
	}
	sub.queue.wake = func() { sub.due.Reset(s.opts.ChangeWindow) }
	// Subscribing comes before the acknowledgement, so that no change is missed
	// in between; changes are sent after it.
	watching, err := subscribeTo(ctx, s.handler, x, *filter, sub.queue.add)
	if err != nil {
		sub.err = err
		return sub
	}
	sub.stop = watching.Stop
	sub.err = back.notify(ctx, mcp.NoteAcknowledged, &mcp.AcknowledgedParams{Meta: sub.meta, Notifications: watching.Filter})
	return sub
}

// wanted reads what the client subscribes to, as far as the server supports it.
func wanted(x *mcp.Exchange, caps *mcp.ServerCapabilities) (*mcp.SubscriptionFilter, error) {
	// They are counted before they are decoded, which takes many times their text.
	asked := wire.Find(x.Params, "notifications")
	for _, name := range []string{"resourceSubscriptions", "taskIds"} {
		if n := entries(wire.Find(asked, name)); n > maxSubscriptions {
			return nil, mcp.InvalidParams("%s has %d entries, the limit is %d", name, n, maxSubscriptions)
		}
	}
	var p struct {
		Notifications *mcp.SubscriptionFilter `json:"notifications"`
	}
	if err := wire.Unmarshal(x.Params, &p); err != nil {
		return nil, mcp.InvalidParams("params: %v", err)
	}
	if p.Notifications == nil {
		return nil, mcp.InvalidParams(`params must have "notifications"`)
	}
	// Spec: 2026-07-28 server/resources#security-considerations (1).
	for _, uri := range p.Notifications.ResourceSubscriptions {
		if !uriForm.MatchString(uri) {
			return nil, mcp.InvalidParams("resourceSubscriptions: %q is not a URI", uri)
		}
	}
	filter := Honoured(*p.Notifications, caps)
	// Spec: ext-tasks/draft tasks#task-status-notifications.
	if len(filter.TaskIDs) > 0 && !declares(&x.Peer.Capabilities, mcp.ExtensionTasks) {
		return nil, extensionNeeded(mcp.ExtensionTasks)
	}
	return &filter, nil
}

// entries returns how many entries a list has, which is 0 for any other value.
func entries(list []byte) int {
	s := wire.Skim(list)
	if s.Next() != '[' {
		return 0
	}
	n := 0
	for s.Enter(); !s.Leave(); s.Skip() {
		n++
	}
	return n
}

// tell sends changes until ctx has ended; then it returns nil.
func (s *Stateless) tell(ctx context.Context, back *returnPath, sub *subscription) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.due.C:
		}
		for taken := sub.queue.take(); len(taken) > 0; taken = taken[1:] {
			err := s.tellOne(ctx, back, sub, taken[0])
			if err == nil {
				continue
			}
			for _, c := range taken[1:] {
				sub.queue.dropped(c, mcp.DropClosed, err)
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// tellOne sends one change. A task that cannot be seen any more is not mentioned.
func (s *Stateless) tellOne(ctx context.Context, back *returnPath, sub *subscription, c mcp.Change) error {
	if c.Kind != mcp.TaskChanged {
		return back.send(ctx, changeFrame(c, sub.text))
	}
	frame, err := s.taskFrame(ctx, back, sub, c.URI)
	if err != nil {
		s.opts.Logger.DebugContext(ctx, "status of a task not sent", "error", err)
		sub.queue.dropped(c, mcp.DropNoForm, err)
		return nil
	}
	return back.send(ctx, frame)
}

// ended closes a subscription that the server ends: it notifies the client that
// the subscription is over, then returns the answer to the request. A client that
// cancelled gets neither.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#graceful-closure.
// Spec: 2026-07-28 basic/patterns/cancellation#behavior-requirements (2).
func (s *Stateless) ended(ctx context.Context, back *returnPath, x *mcp.Exchange, meta mcp.Meta, info *mcp.Implementation) (any, error) {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ErrShutdown) && !errors.Is(cause, ErrExpired) {
		return nil, cause
	}
	back.ctx = context.WithoutCancel(ctx)
	// A client that has gone, which is why its connection ends, gets neither.
	//nolint:contextcheck // ctx has ended, which is what the client is told here
	_ = back.notify(back.ctx, mcp.NoteCancelled, &mcp.CancelledParams{Meta: meta, RequestID: x.ID, Reason: cause.Error()})
	said := maps.Clone(s.name.brief(info).meta)
	maps.Copy(said, meta)
	r := &mcp.EmptyResult{}
	stamp(&r.ResultFields, said)
	return r, nil
}
