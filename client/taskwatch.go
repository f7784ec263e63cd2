package client

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// follows are the tasks that are being followed, by their IDs. The zero value is ready.
type follows struct {
	mu  sync.Mutex
	all map[string][]*follower
}

func (r *follows) add(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[string][]*follower)
	}
	r.all[f.t.id] = append(r.all[f.t.id], f)
}

func (r *follows) remove(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := slices.DeleteFunc(r.all[f.t.id], func(other *follower) bool { return other == f })
	if r.all[f.t.id] = rest; len(rest) == 0 {
		delete(r.all, f.t.id)
	}
}

// woken makes the followers of a task ask for its state, and reports whether there are
// any.
func (r *follows) woken(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.all[id] {
		f.rouse()
	}
	return len(r.all[id]) > 0
}

// rouse makes the follower ask for the state soon.
func (f *follower) rouse() {
	select {
	case f.wake <- struct{}{}:
	default: // it is about to do so
	}
}

// callOf returns the call that follows a task, or nil.
func (r *follows) callOf(task string) *watchdog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := r.all[task]; len(all) > 0 {
		return all[0].call
	}
	return nil
}

// taskChanged takes a notification about the status of a task. What it says of the
// status is not looked at: notifications may come late, and may be missing.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-notifications.
// Spec: ext-tasks/draft tasks#task-status-notifications.
func (c *Client) taskChanged(ctx context.Context, m *jsonrpc.Message) mcp.DropReason {
	id := taskOf(m)
	if id == "" {
		return mcp.DropMalformed
	}
	reason := c.changed(ctx, m, mcp.Change{Kind: mcp.TaskChanged, URI: id})
	if c.follows.woken(id) || reason != 0 && c.taken(ctx, m) {
		return 0
	}
	return reason
}

// taskOf returns the ID of the task that a message is about or belongs to, or "".
//
// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
func taskOf(m *jsonrpc.Message) string {
	if m.Method == mcp.NoteTask || m.Method == mcp.NoteTaskStatus {
		id, _ := wire.Text(wire.Find(m.Params, "taskId"))
		return id
	}
	return related.Named(m.Meta)
}

// hear subscribes to notifications about the task in the stateless era, once. A server
// need not have any.
//
// Spec: ext-tasks/draft tasks#task-status-notifications.
func (f *follower) hear() {
	if f.hears || f.untilAnswered {
		return
	}
	f.hears = true
	f.work.Go(func() { // ends with the following
		s, err := f.c.Listen(f.ctx, mcp.SubscriptionFilter{TaskIDs: []string{f.t.id}}, func(context.Context, Event) { f.rouse() })
		if err != nil {
			f.c.opts.Logger.Debug("no notifications about a task", "task", f.t.id, "error", err)
			return
		}
		if slices.Contains(s.Honoured().TaskIDs, f.t.id) {
			f.rouse() // it may have changed before the server listened to it
			<-f.ctx.Done()
		}
		_ = s.Close() // always nil
	})
}
