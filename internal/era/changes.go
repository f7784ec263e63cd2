package era

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/tap"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// changes queues changes until the client is notified of them. A change that is
// already queued is not added again: that bounds the queue by what was subscribed
// to, and turns a burst into one notification.
type changes struct {
	mu      sync.Mutex
	waiting []mcp.Change
	seen    map[mcp.Change]bool // the set of waiting, once that is long
	// wake is called when the queue stops being empty.
	wake func()
	conn *tap.Conn // observes the connection
}

func (q *changes) add(c mcp.Change) {
	q.mu.Lock()
	added := q.addLocked(c)
	first := added && len(q.waiting) == 1
	q.mu.Unlock()
	switch {
	case first:
		q.wake()
	case !added:
		q.dropped(c, mcp.DropRepeated, nil)
	}
}

func (q *changes) addLocked(c mcp.Change) bool {
	const long = 16
	switch {
	case q.seen[c] || q.seen == nil && slices.Contains(q.waiting, c):
		return false
	case q.seen != nil:
		q.seen[c] = true
	case len(q.waiting) == long:
		q.seen = map[mcp.Change]bool{c: true}
		for _, w := range q.waiting {
			q.seen[w] = true
		}
	}
	q.waiting = append(q.waiting, c)
	return true
}

func (q *changes) take() []mcp.Change {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting, q.seen = nil, nil
	return taken
}

// drop empties the queue of changes that will no longer be sent.
func (q *changes) drop(reason mcp.DropReason, err error) {
	for _, c := range q.take() {
		q.dropped(c, reason, err)
	}
}

// dropped records that a change is not sent.
func (q *changes) dropped(c mcp.Change, reason mcp.DropReason, err error) {
	q.conn.Drop(mcp.Sent, reason, changeMethods[c.Kind], err)
}

// changeMethods are the notifications that announce changes.
var changeMethods = func() map[mcp.ChangeKind]string {
	notes := map[mcp.ChangeKind]string{}
	for _, m := range mcp.Methods() {
		if m.Notification && m.Change != 0 {
			notes[m.Change] = m.Name
		}
	}
	return notes
}()

// subscribeTo subscribes an exchange to changes.
func subscribeTo(ctx context.Context, h mcp.Handler, x *mcp.Exchange, filter mcp.SubscriptionFilter, deliver func(mcp.Change)) (*mcp.Watching, error) {
	x.Watch = &mcp.Watch{Filter: filter, Deliver: deliver}
	result, err := h.Serve(ctx, x)
	if err != nil {
		return nil, err
	}
	w, ok := result.(*mcp.Watching)
	if !ok || w == nil || w.Stop == nil {
		return nil, &mcp.MethodNotFoundError{Method: x.Method}
	}
	return w, nil
}

// changeFrame returns the frame of the notification that announces a change, with
// meta in its params unless it is nil. One change may go to thousands of clients,
// so the frame is encoded by hand.
func changeFrame(c mcp.Change, meta json.RawMessage) []byte {
	const room = 128 // for everything else in the frame
	frame := make([]byte, 0, room+len(meta)+len(c.URI))
	frame = append(append(append(frame, `{"jsonrpc":"2.0","method":"`...), changeMethods[c.Kind]...), '"')
	open := `,"params":{`
	if meta != nil {
		frame = append(append(append(frame, open...), `"_meta":`...), meta...)
		open = ","
	}
	if c.Kind == mcp.ResourceUpdated {
		frame = wire.AppendText(append(append(frame, open...), `"uri":`...), c.URI)
	}
	if meta != nil || c.Kind == mcp.ResourceUpdated {
		frame = append(frame, '}')
	}
	return append(frame, '}')
}

// Honoured returns the part of a filter that a server with these capabilities
// can honour.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
func Honoured(f mcp.SubscriptionFilter, c *mcp.ServerCapabilities) mcp.SubscriptionFilter {
	for kind, kept := range map[mcp.ChangeKind]bool{
		mcp.ToolsChanged:     c.Tools != nil && c.Tools.ListChanged,
		mcp.PromptsChanged:   c.Prompts != nil && c.Prompts.ListChanged,
		mcp.ResourcesChanged: c.Resources != nil && c.Resources.ListChanged,
		mcp.ResourceUpdated:  c.Has(mcp.CapSubscribe),
		mcp.TaskChanged:      c.Offers(mcp.MethodNamed(mcp.MethodGetTask)),
	} {
		if !kept {
			f.Drop(kind)
		}
	}
	return f
}
