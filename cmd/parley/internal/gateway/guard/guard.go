// Package guard says what stands between the clients of a gateway and the servers
// behind it: a chain of guards, each of which may refuse a request, change it, or
// change what is answered.
package guard

import (
	"context"
	"encoding/json"
	"time"

	"github.com/parley-mcp/parley/internal/schema"
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
	// Templates are those that the URI of a resource that is in no list can have been made
	// with.
	Templates []*Definition
	// Params are what the backend gets.
	Params json.RawMessage
	// Demands are the reasons for which guards want a human to approve the operation.
	Demands []string
	// Approval is how a human has decided about the operation; nil if nobody had to. Who
	// stands in front sees it in the Operation that they have passed on.
	Approval *Approval
	// Again finds the operation once more, as everything stands by then, and asks the
	// guards that are a Decider: who has waited must not go by what they said before. It is
	// nil where nothing stands in between.
	Again func(ctx context.Context) (*Operation, error)
}

// Approval is what a human has decided about an operation.
type Approval struct {
	ID string `json:"id"`
	// Decision is "given", "refused" or "expired", or "asked" while nobody has decided.
	Decision string `json:"decision"`
	// By is who has decided; "" if nobody has. Reason is why it is refused.
	By     string `json:"by,omitzero"`
	Reason string `json:"reason,omitzero"`
	// Until is the end of an approval that is given for a time; zero for one that is not.
	Until time.Time `json:"until,omitzero"`
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
	// Headers are the arguments of a tool that headers mirror.
	Headers []schema.HeaderBinding
}

// Denied reports whether an operation was not done because of it.
func (a *Approval) Denied() bool {
	return a != nil && (a.Decision == "refused" || a.Decision == "expired")
}

// Next serves an operation by whatever stands behind.
type Next func(ctx context.Context, op *Operation) (any, error)

// Guard stands between. Its methods may be called concurrently.
type Guard interface {
	// Serve serves an operation, as a rule by calling next, at most once for it: what else
	// next is called with, also later, are operations of the guard's own. It passes
	// errors of type *mcp.InputRequired on: the operation then comes again, with the
	// answers.
	Serve(ctx context.Context, op *Operation, next Next) (any, error)
	// Sees reports whether a peer may know of a definition, in the whole if views make a
	// difference. Lists have only what all guards let be seen.
	Sees(ctx context.Context, peer *mcp.Peer, d *Definition) bool
}

// Looker is a Guard for which it makes a difference in what view a peer looks, or that knows
// faster if it is asked about many definitions.
type Looker interface {
	Guard
	// Look returns Sees for one peer in a view; "" is the whole. The function may be called
	// concurrently.
	Look(ctx context.Context, peer *mcp.Peer, view string) func(d *Definition) bool
}

// Look returns what tells which definitions all guards let a peer know of in a view.
func Look(ctx context.Context, guards []Guard, peer *mcp.Peer, view string) func(*Definition) bool {
	looks := make([]func(*Definition) bool, len(guards))
	for i, g := range guards {
		if l, ok := inner(g).(Looker); ok {
			looks[i] = l.Look(ctx, peer, view)
		} else {
			looks[i] = func(d *Definition) bool { return g.Sees(ctx, peer, d) }
		}
	}
	return func(d *Definition) bool {
		for _, sees := range looks {
			if !sees(d) {
				return false
			}
		}
		return true
	}
}

// Editor is a guard that changes what clients see of definitions. Its methods may be
// called concurrently.
type Editor interface {
	Guard
	// Edit returns an entry of a list as clients are to see it; shown is what they would
	// see otherwise. It is called once for a definition, before Sees.
	Edit(d *Definition, shown json.RawMessage) json.RawMessage
	// Instructions returns what a backend tells models in every conversation, as clients
	// are to see it.
	Instructions(backend, text string) string
}

// Decider is a guard that allows or refuses an operation by itself: its Serve may be called
// again for the same operation, with a next that does nothing.
type Decider interface {
	Guard
	// Decides does nothing.
	Decides()
}

// Deciders returns those of some guards that are one, with what is around them.
func Deciders(guards []Guard) (list []Guard) {
	for _, g := range guards {
		if _, ok := inner(g).(Decider); ok {
			list = append(list, g)
		}
	}
	return list
}

// Editors returns those of some guards that are one.
func Editors(guards []Guard) []Editor { return those[Editor](guards) }

// Describer is a guard that decides whether clients may read what a server says of itself.
type Describer interface {
	Guard
	// Describes reports whether the instructions of a backend may be among those that
	// clients get; d is all that it says of itself. It may be called concurrently.
	Describes(backend string, d *mcp.Description) bool
}

// Describers returns those of some guards that are one.
func Describers(guards []Guard) []Describer { return those[Describer](guards) }

// Admitter is a guard that may also refuse what is no operation of one backend: a list of what
// all have, and what else the gateway answers by itself.
type Admitter interface {
	Guard
	// Admit refuses a request, or returns what is to be called when it has ended.
	Admit(x *mcp.Exchange, m *mcp.Method) (end func(), err error)
}

// Admitters returns those of some guards that are one.
func Admitters(guards []Guard) []Admitter { return those[Admitter](guards) }

// Recorder is a guard that also learns of what is no operation of one backend: lists, what
// the gateway answers by itself, what no backend was found for, and subscriptions.
type Recorder interface {
	Guard
	// Record is told when something has ended. An error takes the place of the result.
	Record(e *Event) error
}

// Event is something besides operations.
type Event struct {
	Exchange *mcp.Exchange
	View     string
	// Over says that the subscription or session has ended that the exchange had begun.
	Over   bool
	Begun  time.Time
	Result any
	Err    error
}

// Recorders returns those of some guards that are one.
func Recorders(guards []Guard) []Recorder { return those[Recorder](guards) }

// Leaver is a guard that wants to know when sessions have ended.
type Leaver interface {
	Guard
	// Left is told of the client of a session that has ended.
	Left(peer *mcp.Peer)
}

// Leavers returns those of some guards that are one.
func Leavers(guards []Guard) []Leaver { return those[Leaver](guards) }

// Wrapper is a guard around another one.
type Wrapper interface {
	Guard
	// Unwrap returns the other one, which still does what it can do besides.
	Unwrap() Guard
}

// inner returns the guard that another one is around, or the guard itself.
func inner(g Guard) Guard {
	if w, ok := g.(Wrapper); ok {
		return w.Unwrap()
	}
	return g
}

// those returns the guards that are more than that.
func those[T any](guards []Guard) (list []T) {
	for _, g := range guards {
		if t, ok := inner(g).(T); ok {
			list = append(list, t)
		}
	}
	return list
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
