// Package related has what package server, the eras and clients need to know of tasks
// alike: which messages belong to one, and how one is written and asked about.
package related

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

type key struct{}

// To returns a context for mcp.Backchannel.Notify that says that the notification
// belongs to a task. In a session it then names the task, and goes out on the standing
// stream once the exchange is over. In the stateless era it is dropped.
//
// Spec: 2025-11-25 basic/utilities/tasks#associating-task-related-messages.
// Spec: ext-tasks/draft tasks#task-status-notifications.
func To(ctx context.Context, task string) context.Context { return context.WithValue(ctx, key{}, task) }

// Task returns the ID of the task that To has put into ctx, or "".
func Task(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Named returns the ID of the task that the _meta of a message names, or "".
//
// Spec: 2025-11-25 basic/utilities/tasks#related-task-metadata.
func Named(meta []byte) string {
	id, _ := wire.Text(wire.Find(wire.Find(meta, mcp.MetaRelatedTask), "taskId"))
	return id
}

// IsTask reports whether a result says that its request goes on as a task.
//
// Spec: ext-tasks/draft tasks#polymorphic-results.
func IsTask(result json.RawMessage) bool {
	return wire.Is(wire.Find(result, "resultType"), mcp.ResultTask)
}

// Time returns a time in the ISO 8601 format of mcp.Task, exact to the millisecond.
//
// Spec: 2025-11-25 basic/utilities/tasks#ttl-and-resource-management.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// ShortestPoll is the least time between two requests for the state of a task.
const ShortestPoll = 100 * time.Millisecond

// defaultPoll is that time where whoever executes the task says nothing.
const defaultPoll = time.Second

// PollAfter returns how long to wait before asking for the state of a task again, whose
// interval is given in milliseconds or nil. It is at most longest.
//
// Spec: ext-tasks/draft tasks#task-polling.
// Spec: 2025-11-25 basic/utilities/tasks#getting-tasks.
func PollAfter(interval *int64, longest time.Duration) time.Duration {
	if interval == nil || *interval < 0 {
		return defaultPoll
	}
	asked := time.Duration(min(*interval, longest.Milliseconds())) * time.Millisecond
	return max(asked, ShortestPoll)
}
