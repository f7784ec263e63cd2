// Package guard says what stands between the clients of a gateway and the servers
// behind it: a chain of guards, each of which may refuse a request, change it, or
// change what is answered.
package guard

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/mcp"
)

// Operation is a request whose backend and subject have been found. What guards decide
// about is, byte for byte, what the backend gets: a decision about one reading of a
// message is worth nothing if the server has another.
type Operation struct {
	// Exchange is the client's: who asks, and the way back. Its Params name things as
	// the client does.
	Exchange *mcp.Exchange
	Method   *mcp.Method
	// View is the name of the view that the client uses; "" is the whole.
	View string
	// Backend is the server's name in the configuration.
	Backend string
	// Subject is the tool, prompt, URI or task as the backend names it, and Shown as
	// the client does; both are "" if the method has none.
	Subject, Shown string
	// Definition is what the backend says of the subject; nil if it is not known.
	Definition *Definition
	// Params are what the backend gets.
	Params json.RawMessage
}

// Definition is an entry of a list of a backend. It must not be changed: many share it.
type Definition struct {
	Kind mcp.FeatureKind
	// List is the method that lists it: a skill is in one list, and the resource that it
	// begins with in another.
	List    string
	Backend string
	// Name is the tool, prompt, URI or URI template as the backend names it, and Shown
	// as clients see it.
	Name, Shown string
	// Raw is the entry as the backend sent it.
	Raw json.RawMessage
	// Annotations are a tool's, after the configuration has had its say; nil if there
	// are none.
	Annotations *mcp.ToolAnnotations
}

// Next serves an operation by whatever stands behind.
type Next func(ctx context.Context, op *Operation) (any, error)

// Guard stands between. Its methods may be called concurrently.
type Guard interface {
	// Serve serves an operation, as a rule by calling next, at most once. It passes
	// errors of type *mcp.InputRequired on: the operation then comes again, with the
	// answers.
	Serve(ctx context.Context, op *Operation, next Next) (any, error)
	// Sees reports whether a peer may know of a definition. Lists have only what all
	// guards let be seen.
	Sees(ctx context.Context, peer *mcp.Peer, d *Definition) bool
}

// Chain returns what passes an operation through guards, the first of which stands
// closest to the client, and then to last.
func Chain(guards []Guard, last Next) Next {
	for i := len(guards) - 1; i >= 0; i-- {
		g, next := guards[i], last
		last = func(ctx context.Context, op *Operation) (any, error) { return g.Serve(ctx, op, next) }
	}
	return last
}
