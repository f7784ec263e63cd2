package gateway

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-mcp/parley/mcp"
)

// everyList are the kinds of changes that are about a list.
var everyList = []mcp.ChangeKind{mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged}

// hub has the clients that want to know when lists change. They do not subscribe at the
// backends, which would have to run for that: a list changes while somebody uses the
// backend, or when it is there again.
type hub struct {
	mu       sync.Mutex
	watchers map[*watcher]bool
}

// watcher is a client that wants to know.
type watcher struct {
	view    string // the name that the client has used
	peer    mcp.Peer
	filter  mcp.SubscriptionFilter
	deliver func(mcp.Change)
	// moved has what the client subscribes to at backends follow to the setup that there is,
	// without waiting for backends longer than until a time.
	moved func(by time.Time)
}

// add adds a watcher, and returns what removes it. Once that has returned, the watcher is
// told nothing more.
func (h *hub) add(w *watcher) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers == nil {
		h.watchers = map[*watcher]bool{}
	}
	h.watchers[w] = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}
}

// all returns the watchers there are now.
func (h *hub) all() []*watcher {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.watchers))
}

// changed tells the watchers that fit. Telling one does not block.
func (h *hub) changed(fits func(*watcher) bool, kinds ...mcp.ChangeKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		if !fits(w) {
			continue
		}
		for _, kind := range kinds {
			if c := (mcp.Change{Kind: kind}); w.filter.Matches(c) {
				w.deliver(c)
			}
		}
	}
}
