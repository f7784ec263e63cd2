package gateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

const (
	// taskPage is how many tasks a page has.
	taskPage = 100
	// listingTasks bounds how many backends are asked for their tasks at a time.
	listingTasks = 16
)

// listTasks serves a list of the tasks that a client has at all backends of a view, the
// latest first. One that cannot be asked, or that guards refuse, has none for now.
//
// Spec: 2025-11-25 basic/utilities/tasks#listing-tasks.
func (s *setup) listTasks(ctx context.Context, p *part, x *mcp.Exchange, method *mcp.Method) (any, error) {
	var params mcp.ListParams
	if x.Params != nil {
		if err := wire.Unmarshal(x.Params, &params); err != nil {
			return nil, mcp.InvalidParams("params: %v", err)
		}
	}
	after := ""
	if params.Cursor != nil {
		place, err := base64.RawURLEncoding.DecodeString(*params.Cursor)
		if err != nil || !strings.Contains(string(place), " ") {
			return nil, mcp.InvalidParams("invalid cursor %.100q", *params.Cursor)
		}
		after = string(place)
	}
	tasks := s.tasksOf(ctx, p, x, method)
	if after != "" {
		tasks = slices.DeleteFunc(tasks, func(t *mcp.Task) bool { return placeOf(t) >= after })
	}
	list := &mcp.ListTasksResult{Tasks: tasks}
	if len(tasks) > taskPage {
		list.Tasks = tasks[:taskPage]
		list.NextCursor = new(base64.RawURLEncoding.EncodeToString([]byte(placeOf(list.Tasks[taskPage-1]))))
	}
	return list, nil
}

// placeOf is where a task stands in the list.
func placeOf(t *mcp.Task) string { return t.CreatedAt + " " + t.ID }

// tasksOf returns the tasks of a client, in the names that it knows.
func (s *setup) tasksOf(ctx context.Context, p *part, x *mcp.Exchange, method *mcp.Method) []*mcp.Task {
	var mu sync.Mutex
	all := []*mcp.Task{}
	var group errgroup.Group
	group.SetLimit(listingTasks)
	judges := guard.Judges(s.guards)
	for _, m := range p.members {
		if d := m.backend.Describe(); d == nil || d.Capabilities.Tasks == nil || d.Capabilities.Tasks.List == nil { //nolint:contextcheck // it only remembers
			continue
		}
		group.Go(func() error {
			op := &guard.Operation{Exchange: x, Method: method, View: p.name, Backend: m.backend.Name()}
			result, err := guard.Chain(judges, m.passTasks)(ctx, op)
			raw, ok := result.(json.RawMessage)
			var list mcp.ListTasksResult
			if err != nil || !ok || wire.Unmarshal(raw, &list) != nil {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, list.Tasks...)
			return nil
		})
	}
	_ = group.Wait() // always nil
	slices.SortFunc(all, func(a, b *mcp.Task) int { return -cmp.Compare(placeOf(a), placeOf(b)) })
	return all
}

// passTasks has a backend list its tasks, in the names that clients know.
func (m *member) passTasks(ctx context.Context, op *guard.Operation) (any, error) {
	result, err := m.backend.Serve(ctx, behind(op.Exchange, m.names, op.Params), true)
	if raw, ok := result.(json.RawMessage); ok {
		return json.RawMessage(m.names.Result(op.Method.Name, raw)), err
	}
	return result, err
}
