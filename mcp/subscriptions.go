package mcp

import "slices"

// SubscriptionFilter says which changes a client wants to hear of.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#notification-filter.
type SubscriptionFilter struct {
	ToolsListChanged     bool `json:"toolsListChanged,omitzero"`
	PromptsListChanged   bool `json:"promptsListChanged,omitzero"`
	ResourcesListChanged bool `json:"resourcesListChanged,omitzero"`
	// ResourceSubscriptions are the URIs of resources to watch.
	ResourceSubscriptions []string `json:"resourceSubscriptions,omitzero"`
}

// ListenParams opens a stream of notifications.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#opening-a-stream.
type ListenParams struct {
	Notifications SubscriptionFilter `json:"notifications"`
}

// AcknowledgedParams says which of the wanted changes will be told.
//
// Spec: 2026-07-28 basic/patterns/subscriptions#acknowledgment.
type AcknowledgedParams struct {
	Meta          Meta               `json:"_meta,omitzero"`
	Notifications SubscriptionFilter `json:"notifications"`
}

// NotificationParams are the params of notifications that say nothing but
// that they happened.
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
)

// Change is something that happened to a server's features. It is comparable:
// equal changes that wait for delivery are told once.
type Change struct {
	Kind ChangeKind
	URI  string // the resource, for ResourceUpdated
}

// Matches reports whether a filter asks for the change.
func (f *SubscriptionFilter) Matches(c Change) bool {
	switch c.Kind {
	case ToolsChanged:
		return f.ToolsListChanged
	case PromptsChanged:
		return f.PromptsListChanged
	case ResourcesChanged:
		return f.ResourcesListChanged
	case ResourceUpdated:
		if slices.Contains(f.ResourceSubscriptions, c.URI) {
			return true
		}
	}
	return false
}
