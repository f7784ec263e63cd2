package client

import (
	"sync"

	"github.com/parley-mcp/parley/mcp"
)

// listens reports whether the caller wants to hear of the call before it has ended.
func (o *callOptions) listens() bool { return o.progress || o.onNotification != nil || o.onTask != nil }

// keptNotes hands the notes of a call on to whoever follows its task: in a session,
// the token of its progress is valid as long as the task is.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-progress-notifications.
type keptNotes struct {
	mu    sync.Mutex
	notes *notes
}

// keep takes over the notes of a call that has become a task.
func (k *keptNotes) keep(call *watchdog) {
	call.keptNotes = true
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notes = call.notes
}

// take returns the notes, once; nil if there are none.
func (k *keptNotes) take() *notes {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := k.notes
	k.notes = nil
	return n
}

// drop ends the notes if nobody has taken them.
func (k *keptNotes) drop() {
	if n := k.take(); n != nil {
		n.finish()
	}
}

// moveTo makes the notes those of another call.
func (n *notes) moveTo(call *watchdog) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.call, n.opts = call, &call.req.opts
}

// tellTask queues the state of a task, and its message as progress if the server
// reports none.
func (n *notes) tellTask(state mcp.Task, news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = nil // later progress must not overtake this state
	onTask, onProgress := n.opts.onTask, n.opts.onProgress
	var p *mcp.ProgressParams
	if news && !n.reported && onProgress != nil {
		n.told++
		p = &mcp.ProgressParams{Progress: float64(n.told), Message: state.StatusMessage}
	}
	if onTask == nil && p == nil {
		return
	}
	n.add(func() {
		if onTask != nil {
			onTask(&state)
		}
		if p != nil {
			onProgress(p)
		}
	})
}
