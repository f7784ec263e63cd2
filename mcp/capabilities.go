package mcp

import (
	"encoding/json"

	"github.com/parley-mcp/parley/internal/wire"
)

// ClientCapabilities says what a server may ask of a client.
//
// Spec: 2026-07-28 client/elicitation#capabilities.
type ClientCapabilities struct {
	Roots       *RootsCapability           `json:"roots,omitzero"`
	Sampling    *SamplingCapability        `json:"sampling,omitzero"`
	Elicitation *ElicitationCapability     `json:"elicitation,omitzero"`
	Tasks       *TasksCapability           `json:"tasks,omitzero"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitzero"`
	// Experimental holds non-standard features by name, each a JSON object.
	Experimental map[string]json.RawMessage `json:"experimental,omitzero"`
}

// RootsCapability says that a client has roots.
//
// Revision 2026-07-28 deprecates roots (docs/deprecated.md).
type RootsCapability struct {
	// ListChanged promises notifications when the roots change (sessions only).
	ListChanged bool `json:"listChanged,omitzero"`
}

// SamplingCapability says that a client can run a model.
//
// Revision 2026-07-28 deprecates sampling (docs/deprecated.md).
type SamplingCapability struct {
	// Tools says that the model can be offered tools.
	Tools *Empty `json:"tools,omitzero"`
	// Context says that CreateMessageParams.IncludeContext is understood.
	Context *Empty `json:"context,omitzero"`
}

// ElicitationCapability says how a client can ask its user. Both nil means
// forms only.
//
// Spec: 2026-07-28 client/elicitation#capabilities.
type ElicitationCapability struct {
	Form *Empty `json:"form,omitzero"`
	URL  *Empty `json:"url,omitzero"`
}

// Forms reports whether form mode is supported.
func (e *ElicitationCapability) Forms() bool {
	return e != nil && (e.Form != nil || e.URL == nil)
}

// URLs reports whether URL mode is supported.
func (e *ElicitationCapability) URLs() bool { return e != nil && e.URL != nil }

// ServerCapabilities says what a server offers.
//
// Spec: 2026-07-28 server/discover#response.
type ServerCapabilities struct {
	Tools       *ListCapability            `json:"tools,omitzero"`
	Resources   *ResourcesCapability       `json:"resources,omitzero"`
	Prompts     *ListCapability            `json:"prompts,omitzero"`
	Completions *Empty                     `json:"completions,omitzero"`
	Logging     *Empty                     `json:"logging,omitzero"`
	Tasks       *TasksCapability           `json:"tasks,omitzero"`
	Extensions  map[string]json.RawMessage `json:"extensions,omitzero"`
	// Experimental holds non-standard features by name, each a JSON object.
	Experimental map[string]json.RawMessage `json:"experimental,omitzero"`
}

// ListCapability says that a list is offered.
type ListCapability struct {
	// ListChanged promises notifications when the list changes.
	ListChanged bool `json:"listChanged,omitzero"`
}

// ResourcesCapability says that resources are offered.
type ResourcesCapability struct {
	// Subscribe promises notifications when a watched resource changes.
	Subscribe   bool `json:"subscribe,omitzero"`
	ListChanged bool `json:"listChanged,omitzero"`
}

// Capability names a capability of servers: the path to its member in
// ServerCapabilities on the wire.
type Capability string

// The capabilities of servers that methods belong to.
const (
	CapTools       Capability = "tools"
	CapResources   Capability = "resources"
	CapSubscribe   Capability = "resources.subscribe"
	CapPrompts     Capability = "prompts"
	CapCompletions Capability = "completions"
	CapLogging     Capability = "logging"
	CapTasks       Capability = "tasks"
	CapTasksList   Capability = "tasks.list"
	CapTasksCancel Capability = "tasks.cancel"
)

// Offers reports whether what a method needs is declared: its capability or its
// extension.
func (c *ServerCapabilities) Offers(m *Method) bool {
	if m.Extension == "" || m.Capability != "" && c.Has(m.Capability) {
		return c.Has(m.Capability)
	}
	settings, ok := c.Extensions[m.Extension]
	return ok && (m.Setting == "" || string(wire.Find(settings, m.Setting)) == "true")
}

// Has reports whether a capability is declared; "" always is.
func (c *ServerCapabilities) Has(name Capability) bool {
	switch name {
	case "":
		return true
	case CapTools:
		return c.Tools != nil
	case CapResources:
		return c.Resources != nil
	case CapSubscribe:
		return c.Resources != nil && c.Resources.Subscribe
	case CapPrompts:
		return c.Prompts != nil
	case CapCompletions:
		return c.Completions != nil
	case CapLogging:
		return c.Logging != nil
	case CapTasks:
		return c.Tasks != nil
	case CapTasksList:
		return c.Tasks != nil && c.Tasks.List != nil
	case CapTasksCancel:
		return c.Tasks != nil && c.Tasks.Cancel != nil
	}
	return false
}
