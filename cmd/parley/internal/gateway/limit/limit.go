// Package limit keeps one client of a gateway, or one tool, from taking what is there for
// all: it bounds how often and how many at a time operations are served, how long they
// take, and how large their results are. What a call does that goes on as a task counts as
// what the call does.
package limit

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Limits is a guard that holds operations to rules. All that match have to admit one.
type Limits struct {
	rules []*counted
	tasks *tasks
}

var (
	_ guard.Admitter = (*Limits)(nil)
	_ guard.Leaver   = (*Limits)(nil)
)

// New returns limits.
func New(rules []Rule) *Limits { return Renew(&Limits{tasks: new(tasks)}, rules) }

// Renew returns limits that go on where others are: with the tasks that count there, and
// with what is counted for rules that are the same.
func Renew(old *Limits, rules []Rule) *Limits {
	l := &Limits{tasks: old.tasks}
	had := slices.Clone(old.rules)
	for _, r := range rules {
		i := slices.IndexFunc(had, func(c *counted) bool { return reflect.DeepEqual(c.Rule, r) })
		if i < 0 {
			l.rules = append(l.rules, &counted{Rule: r, accounts: map[key]*account{}})
			continue
		}
		l.rules = append(l.rules, had[i])
		had = slices.Delete(had, i, i+1)
	}
	return l
}

// Sees implements guard.Guard: limits hide nothing.
func (l *Limits) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Serve implements guard.Guard.
func (l *Limits) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	about := l.tasks.find(op)
	matching, taken, err := l.admit(op, about)
	defer func() { taken.leave() }()
	if err != nil {
		return nil, err
	}
	call := served{op, next, taken, time.Now(), leastTime(matching)}
	ctx, stop := bounded(ctx, call.least)
	defer stop()
	var result any
	if about != nil {
		result, err = l.tasks.serve(ctx, about, op, next)
	} else if result, err = next(ctx, op); l.tasks.made(&call, result) { //nolint:contextcheck // the task outlives the operation
		taken = nil
	}
	return l.fit(op, result, err)
}

// served is an operation that is served, the places that it has, and how long it may take; 0
// means no limit.
type served struct {
	op    *guard.Operation
	next  guard.Next
	taken places
	begun time.Time
	least time.Duration
}

// admit has all rules count an operation that match it, and returns them with the places
// that it has there. about is the task that it is about, or nil.
func (l *Limits) admit(op *guard.Operation, about *task) (matching []*counted, taken places, err error) {
	for _, r := range l.rules {
		if !r.matches(op) {
			continue
		}
		p, err := r.admit(op, about)
		if err != nil {
			return nil, taken, err
		}
		if p != nil {
			taken = append(taken, p)
		}
		matching = append(matching, r)
	}
	return matching, taken, nil
}

// Admit implements guard.Admitter: rates, and how many may be served at a time.
func (l *Limits) Admit(x *mcp.Exchange, m *mcp.Method) (end func(), err error) {
	var taken places
	op := &guard.Operation{Exchange: x, Method: m}
	for _, r := range l.rules {
		if !r.covers(m) {
			continue
		}
		p, err := r.admit(op, nil)
		if err != nil {
			taken.leave()
			return nil, err
		}
		if p != nil {
			taken = append(taken, p)
		}
	}
	return taken.leave, nil
}

// Left implements guard.Leaver.
func (l *Limits) Left(peer *mcp.Peer) { l.tasks.left(peer.SessionID) }

// leastTime is the time of the strictest of some rules; 0 means no limit.
func leastTime(rules []*counted) (least time.Duration) {
	for _, r := range rules {
		if r.Time > 0 && (least == 0 || r.Time < least) {
			least = r.Time
		}
	}
	return least
}

// bounded bounds the time.
func bounded(ctx context.Context, least time.Duration) (context.Context, context.CancelFunc) {
	if least == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, least, late(least))
}

// late is why nothing comes of what has taken longer than its time.
func late(least time.Duration) error {
	return jsonrpc.Errorf(jsonrpc.CodeInternalError, "it took longer than %s, which is all that the gateway allows", least)
}
