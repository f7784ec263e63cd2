// Package related marks what belongs to a task, on its way from package server to the
// eras.
package related

import "context"

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
