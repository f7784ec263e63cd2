package era

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// mayBeTask is the offer of every client that can take tasks. It is shared.
var mayBeTask = &mcp.TaskOffer{}

// declares reports whether a client has declared an extension.
func declares(c *mcp.ClientCapabilities, extension string) bool {
	settings, ok := c.Extensions[extension]
	return ok && isObject(settings)
}

// extensionNeeded returns the error for a client that has not declared an extension
// which its request needs.
//
// Spec: ext-tasks/draft tasks#capability-negotiation.
func extensionNeeded(id string) *mcp.MissingCapabilityError {
	return &mcp.MissingCapabilityError{
		Feature:  "the extension " + id,
		Required: mcp.ClientCapabilities{Extensions: map[string]json.RawMessage{id: json.RawMessage("{}")}},
	}
}

// permitted refuses a request of a method whose extension the client has to declare,
// whatever the request is about. d is nil for a custom method.
//
// Spec: ext-tasks/draft tasks#protocol-errors.
func permitted(d *mcp.Method, c *mcp.ClientCapabilities, desc *mcp.Description) error {
	if d == nil || !d.ClientDeclares || declares(c, d.Extension) || !desc.Capabilities.Offers(d) {
		return nil
	}
	return extensionNeeded(d.Extension)
}

// offerOf returns what the server may make of a request: a client says with each one
// whether it can take a task.
//
// Spec: ext-tasks/draft tasks#capability-negotiation.
func offerOf(x *mcp.Exchange) *mcp.TaskOffer {
	if len(x.Peer.Capabilities.Extensions) == 0 || !declares(&x.Peer.Capabilities, mcp.ExtensionTasks) {
		return nil
	}
	if d := mcp.MethodNamed(x.Method); d == nil || !d.AsTask {
		return nil
	}
	return mayBeTask
}

// endedIsFine replaces the error of a cancellation that comes too late by the
// acknowledgement that every cancellation gets.
//
// Spec: ext-tasks/draft tasks#task-cancellation.
func endedIsFine(result any, err error) (any, error) {
	if _, ended := errors.AsType[*mcp.TaskEndedError](err); ended {
		return &mcp.EmptyResult{}, nil
	}
	return result, err
}

// taskFrame returns the frame of the notification about a task, in the state that
// tasks/get would return now, or nil if the client cannot see the task.
//
// Spec: ext-tasks/draft tasks#task-status-notifications.
func (s *Stateless) taskFrame(ctx context.Context, back *returnPath, sub *subscription, id string) ([]byte, error) {
	of := askerOf(sub.of, id, back.seen)
	of.Header = sub.of.Header
	state, err := stateOf(ctx, s.handler, of, &s.opts)
	if err != nil {
		return nil, err
	}
	said, err := form{back.facts, sub.by, &of.Peer.Capabilities}.detailed(state)
	if err != nil {
		return nil, err
	}
	said.Meta = sub.meta
	m, err := jsonrpc.NewNotification(mcp.NoteTask, said)
	if err != nil {
		return nil, err
	}
	return jsonrpc.Append(nil, m)
}
