// Package related knows what belongs to a task: it marks that on its way from package
// server to the eras, and reads the mark of messages.
package related

import (
	"context"

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
