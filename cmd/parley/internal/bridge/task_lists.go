package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parley-mcp/parley/internal/era"
	"github.com/parley-mcp/parley/internal/related"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// offerTasks adds what the bridge can do with tasks to what the other server can: there
// are tasks for clients of both eras, and a list of a client's own in the one that has it.
//
// Spec: 2025-11-25 basic/utilities/tasks#capabilities.
// Spec: ext-tasks/draft tasks#capability-negotiation.
func (b *Bridge) offerTasks(caps *mcp.ServerCapabilities, stateless bool) {
	switch {
	case stateless && caps.Extensions[mcp.ExtensionTasks] != nil:
		caps.Tasks = &mcp.TasksCapability{Requests: mcp.TaskRequests{Tools: &mcp.ToolTasks{Call: &mcp.Empty{}}}, Cancel: &mcp.Empty{}}
	case !stateless && caps.Tools != nil: // a call that asks becomes a task
		caps.Extensions = maps.Clone(caps.Extensions)
		if caps.Extensions == nil {
			caps.Extensions = map[string]json.RawMessage{}
		}
		caps.Extensions[mcp.ExtensionTasks] = json.RawMessage("{}")
	}
	if caps.Tasks != nil {
		tasks := *caps.Tasks
		tasks.List = &mcp.Empty{}
		caps.Tasks = &tasks
	}
}

// withTasks says of tools of a server without sessions that they can be called as tasks:
// whatever the server makes of a call, the bridge makes a task of it. Clients without
// sessions are not told, since their revision does not have that.
//
// Spec: 2025-11-25 basic/utilities/tasks#tool-level-negotiation.
func (l *link) withTasks(x *mcp.Exchange, result json.RawMessage) json.RawMessage {
	if x.Method != mcp.MethodListTools || !era.StatelessRevision(l.client.Revision()) || l.client.ServerCapabilities().Extensions[mcp.ExtensionTasks] == nil {
		return result
	}
	var tools []json.RawMessage
	if wire.Unmarshal(wire.Find(result, "tools"), &tools) != nil {
		return result
	}
	for i, tool := range tools {
		if with, err := wire.Set(tool, "execution", []byte(`{"taskSupport":"optional"}`)); err == nil && wire.Find(tool, "execution") == nil {
			tools[i] = with
		}
	}
	list, err := wire.Marshal(tools)
	if err != nil {
		return result
	}
	with, err := wire.Set(result, "tools", list)
	if err != nil {
		return result
	}
	return with
}

// remember keeps whose a task of the other server is.
func (k *tasks) remember(x *mcp.Exchange, p *passing) {
	if x.Task == nil || !related.IsTask(p.result) {
		return
	}
	var t mcp.Task
	if wire.Unmarshal(p.result, &t) != nil || t.ID == "" {
		return
	}
	ttl := longestTTL
	if t.TTLMs != nil {
		ttl = min(time.Duration(min(max(*t.TTLMs, 0), longestTTL.Milliseconds()))*time.Millisecond, longestTTL)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.theirs == nil {
		k.theirs = map[string]theirs{}
	}
	now := time.Now()
	k.roomForTheirsLocked(now)
	of := ownedBy(&x.Peer)
	if had, ok := k.theirs[t.ID]; ok && had.owner.principal != of.principal {
		return // a server that repeats an ID does not take a task away from somebody
	}
	k.theirs[t.ID] = theirs{of, p.link, now.Add(ttl)}
	if !slices.Contains(k.order, t.ID) {
		k.order = append(k.order, t.ID)
	}
	k.pruneLocked()
}

// mine refuses a request about a task that is known to be another client's, or that can
// only be one of the bridge, which has none of this ID.
func (k *tasks) mine(x *mcp.Exchange, alike bool) error {
	id := mcp.MethodNamed(x.Method).SubjectOf(x.Params)
	k.mu.Lock()
	defer k.mu.Unlock()
	at, known := k.theirs[id]
	if !alike || known && at.owner.principal != x.Peer.Principal || k.held[id] != nil {
		return unknownTask(id)
	}
	return nil
}

// listed reports whether a task is in the list of a client. Where nobody is authenticated,
// it is the session that knows its own.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-isolation-and-access-control.
func (b *Bridge) listed(of owner, peer *mcp.Peer) bool {
	return of.principal == peer.Principal && (peer.Principal != "" || b.opts.Single || of == ownedBy(peer))
}

// listTasks lists the tasks of a client: those of the bridge, and those that the other
// server has made for it.
//
// Spec: 2025-11-25 basic/utilities/tasks#task-listing.
func (b *Bridge) listTasks(ctx context.Context, l *link, x *mcp.Exchange) (json.RawMessage, error) {
	list := &mcp.ListTasksResult{Tasks: []*mcp.Task{}}
	var ids []string
	b.tasks.mu.Lock()
	var held []*task
	for _, id := range b.tasks.order {
		if t := b.tasks.held[id]; t != nil && b.listed(t.owner, &x.Peer) {
			held = append(held, t)
		} else if at, ok := b.tasks.theirs[id]; ok && b.listed(at.owner, &x.Peer) {
			ids = append(ids, id)
		}
	}
	b.tasks.mu.Unlock()
	for _, t := range held {
		list.Tasks = append(list.Tasks, new(t.brief(t.status(x))))
	}
	list.Tasks = append(list.Tasks, b.statesOf(ctx, l, ids)...)
	slices.SortStableFunc(list.Tasks, func(a, b *mcp.Task) int { return -compareTimes(a.CreatedAt, b.CreatedAt) })
	return wire.Marshal(list)
}

func compareTimes(a, b string) int {
	at, _ := time.Parse(time.RFC3339Nano, a)
	other, _ := time.Parse(time.RFC3339Nano, b)
	return at.Compare(other)
}

// lookups bounds how many states are asked for at a time.
const lookups = 8

// statesOf asks for the states of tasks of the other server. One that it does not know any
// more is forgotten.
func (b *Bridge) statesOf(ctx context.Context, l *link, ids []string) (states []*mcp.Task) {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(lookups)
	for _, id := range ids {
		group.Go(func() error {
			raw, err := b.pool.instead(b.tasks.linkOf(id), l).client.Do(ctx, mcp.MethodGetTask, mcp.TaskParams{ID: id})
			t := new(mcp.Task)
			if err == nil {
				err = wire.Unmarshal(raw, t)
			}
			if err == nil {
				mu.Lock()
				states = append(states, t)
				mu.Unlock()
			}
			if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok && rpc.Code == jsonrpc.CodeInvalidParams {
				b.tasks.lose(id)
			}
			return nil
		})
	}
	_ = group.Wait() // always nil
	return states
}

// lose forgets a task of the other server.
func (k *tasks) lose(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.theirs, id)
}
