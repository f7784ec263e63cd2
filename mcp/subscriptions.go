package mcp

import "slices"

// SubscriptionFilter says which changes a client wants to be notified of.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
type SubscriptionFilter struct {
	ToolsListChanged     bool `json:"toolsListChanged,omitzero"`
	PromptsListChanged   bool `json:"promptsListChanged,omitzero"`
	ResourcesListChanged bool `json:"resourcesListChanged,omitzero"`
	// ResourceSubscriptions are the URIs of resources to watch.
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"`
	// TaskIDs are the tasks whose status to watch.
	//
	// Spec: ext-tasks/draft tasks#task-status-notifications.
	TaskIDs []string `json:"taskIds,omitzero"`
}

// ListenParams opens a stream of notifications.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
type ListenParams struct {
	Notifications SubscriptionFilter `json:"notifications"`
}

// AcknowledgedParams says which of the requested changes the client will be
// notified of.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
type AcknowledgedParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"`
}

// NotificationParams are the params of notifications that carry no data of
// their own.
type NotificationParams struct {
	Meta Meta `json:"_meta,omitzero"`
}

// ChangeKind is what a Change is about.
type ChangeKind int

// The kinds of changes.
const (
	ToolsChanged ChangeKind = iota + 1
	PromptsChanged
	ResourcesChanged
	ResourceUpdated
	TaskChanged
)

// Change is something that happened to a server's features. It is comparable:
// equal changes that wait for delivery are delivered once.
type Change struct {
	Kind ChangeKind
	URI  string // the resource of ResourceUpdated, or the ID of the task of TaskChanged
}

// Watch is what an exchange subscribes to.
type Watch struct {
	// Filter is what the client asks to be notified of. Middleware may narrow
	// it, so that what a client must not learn of never reaches the server.
	Filter SubscriptionFilter
	// Deliver takes the changes. It does not block and may be called
	// concurrently, but not after Watching.Stop has returned.
	Deliver func(Change)
}

// Watching is the result of an exchange that subscribes.
type Watching struct {
	// Filter says which changes Deliver will be called for. The client is
	// told.
	//
	// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
	Filter SubscriptionFilter
	// Stop ends the subscription. Once it has returned, Deliver is not called
	// any more. It may be called more than once, but not from Deliver.
	Stop func()
}

// Drop removes the changes of a kind from the filter.
func (f *SubscriptionFilter) Drop(kind ChangeKind) {
	switch kind {
	case ToolsChanged:
		f.ToolsListChanged = false
	case PromptsChanged:
		f.PromptsListChanged = false
	case ResourcesChanged:
		f.ResourcesListChanged = false
	case ResourceUpdated:
		f.ResourceSubscriptions = nil
	case TaskChanged:
		f.TaskIDs = nil
	}
}

// Matches reports whether the filter asks for a change.
func (f *SubscriptionFilter) Matches(c Change) bool {
	switch c.Kind {
	case ToolsChanged:
		return f.ToolsListChanged
	case PromptsChanged:
		return f.PromptsListChanged
	case ResourcesChanged:
		return f.ResourcesListChanged
	case ResourceUpdated:
		return slices.Contains(f.ResourceSubscriptions, c.URI)
	case TaskChanged:
		return slices.Contains(f.TaskIDs, c.URI)
	}
	return false
}
