package era

import (
	"encoding/json"
	"sync"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// changes gathers what happened until it is told. A change that already waits
// is not added again, which bounds the queue by what was asked for and makes
// a burst one notification.
type changes struct {
	mu      sync.Mutex
	waiting []mcp.Change
	seen    map[mcp.Change]bool
	// wake is called when the queue stops being empty.
	wake func()
}

func (q *changes) add(c mcp.Change) {
	q.mu.Lock()
	if q.seen[c] {
		q.mu.Unlock()
		return
	}
	if q.seen == nil {
		q.seen = make(map[mcp.Change]bool)
	}
	q.seen[c] = true
	q.waiting = append(q.waiting, c)
	first := len(q.waiting) == 1
	q.mu.Unlock()
	if first {
		q.wake()
	}
}

func (q *changes) take() []mcp.Change {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.waiting
	q.waiting, q.seen = nil, nil
	return taken
}

var changeMethods = map[mcp.ChangeKind]string{
	mcp.ToolsChanged:     mcp.NoteToolsChanged,
	mcp.PromptsChanged:   mcp.NotePromptsChanged,
	mcp.ResourcesChanged: mcp.NoteResourcesChanged,
	mcp.ResourceUpdated:  mcp.NoteResourceUpdated,
}

// changeNotification returns the notification that tells of a change, with
// meta, if there is one, in its params. One change may be told to thousands, so
// it is written by hand.
func changeNotification(c mcp.Change, meta json.RawMessage) *jsonrpc.Message {
	m := &jsonrpc.Message{Kind: jsonrpc.Notification, Method: changeMethods[c.Kind]}
	if meta != nil {
		m.Params = append(append(m.Params, `{"_meta":`...), meta...)
	}
	if c.Kind == mcp.ResourceUpdated {
		open := byte('{')
		if meta != nil {
			open = ','
		}
		m.Params = wire.AppendText(append(append(m.Params, open), `"uri":`...), c.URI)
	}
	if m.Params != nil {
		m.Params = append(m.Params, '}')
	}
	return m
}

// Honoured returns the part of a filter that a server with these capabilities
// can keep.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
func Honoured(f mcp.SubscriptionFilter, c *mcp.ServerCapabilities) mcp.SubscriptionFilter {
	f.ToolsListChanged = f.ToolsListChanged && c.Tools != nil && c.Tools.ListChanged
	f.PromptsListChanged = f.PromptsListChanged && c.Prompts != nil && c.Prompts.ListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && c.Resources != nil && c.Resources.ListChanged
	if c.Resources == nil || !c.Resources.Subscribe {
		f.ResourceSubscriptions = nil
	}
	return f
}
