// Package approval has humans decide about single operations. Where a rule or a policy
// demands it, the person at the client is asked by elicitation, or the operator of the
// gateway by a Desk, and nothing is done before one of them has approved it.
//
// What is approved is one call: of this principal, to this tool of this backend, as its
// definition is now, with these arguments.
package approval

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/internal/revision"
	"github.com/parley-mcp/parley/jsonrpc"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Guard.
type Options struct {
	// Rules say which operations need a human, besides those that another guard demands
	// one for.
	Rules []Rule
	// Ask says who may decide, where no rule says so. "" means AskBoth.
	Ask Ask
	// Wait is how long is waited for an answer. 0 means 5 minutes.
	Wait time.Duration
	// File is the configuration, for those who are told how to answer.
	File string
}

// Guard is a guard that demands humans. It belongs behind those that refuse operations:
// nobody is asked about what is not possible anyway.
type Guard struct {
	desk *Desk
	opts Options
}

var _ guard.Guard = (*Guard)(nil)

// New returns a guard that keeps what waits, and what was approved, on a desk.
func New(desk *Desk, o Options) *Guard {
	o.Ask, o.Wait = cmp.Or(o.Ask, AskBoth), cmp.Or(o.Wait, 5*time.Minute)
	return &Guard{desk, o}
}

// Sees implements guard.Guard: approval hides nothing.
func (g *Guard) Sees(context.Context, *mcp.Peer, *guard.Definition) bool { return true }

// Serve implements guard.Guard.
func (g *Guard) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	if len(op.Demands) > 0 && !demandable(op.Method) && op.Method.Feature != mcp.TaskFeature {
		return nil, unaskable(op)
	}
	name, behind := unwrap(op.Exchange)
	why, ask := g.demands(op)
	if ask == "" && name == "" {
		return next(ctx, op)
	}
	r, err := newRequest(op, why, ask)
	if err != nil {
		return nil, err
	}
	c := &call{g: g, op: op, x: behind, r: r}
	given, err := c.decided(ctx, name)
	if err == nil && c.waited && op.Again != nil {
		err = c.same(ctx)
	}
	if denied, ok := errors.AsType[*deniedError](err); ok {
		return denied.answer(op.Exchange)
	}
	if err != nil {
		return nil, err
	}
	op.Approval = given
	return c.pass(ctx, next)
}

// demands returns why a human has to approve an operation, and who may; "" if nobody has
// to.
func (g *Guard) demands(op *guard.Operation) (why []string, ask Ask) {
	if !demandable(op.Method) {
		return nil, ""
	}
	why = op.Demands
	if len(why) > 0 {
		ask = g.opts.Ask
	}
	for i := range g.opts.Rules {
		r := &g.opts.Rules[i]
		if !r.matches(op) {
			continue
		}
		if r.Why != "" {
			why = append(why[:len(why):len(why)], r.Why)
		}
		who := cmp.Or(r.Ask, g.opts.Ask)
		if ask != "" {
			who = who.stricter(ask)
		}
		ask = who
	}
	return why, ask
}

// call is an operation that a human has to approve.
type call struct {
	g  *Guard
	op *guard.Operation
	x  *mcp.Exchange // as those behind get it
	r  *Request
	// waited says that time has passed since the guards in front have decided.
	waited bool
}

// same returns why a call cannot be made any more that has waited for its approval, or is
// another one by now: a human has approved what they saw.
func (c *call) same(ctx context.Context) error {
	now, err := c.op.Again(ctx)
	if err != nil {
		return err
	}
	r, err := newRequest(now, c.r.Why, c.r.Ask)
	if err != nil {
		return err
	}
	if r.call != c.r.call {
		c.op.Approval = &guard.Approval{ID: c.op.Approval.ID, Decision: string(Refused), By: c.op.Approval.By}
		return c.refused("what is called has changed while it waited; call it again")
	}
	return nil
}

// decided returns how a human has approved the call, and asks if nobody has yet. The name
// is that of the ticket that the client has brought back, if it has.
func (c *call) decided(ctx context.Context, name string) (*guard.Approval, error) {
	if name != "" {
		t, err := c.g.desk.take(name, c.r.call)
		switch {
		case err != nil:
			return nil, err
		case t.given != nil:
			return t.given, nil
		}
		return c.answered(ctx, t.asked)
	}
	if c.r.Ask == "" {
		return nil, nil //nolint:nilnil // nobody has to, any more
	}
	if given := c.g.desk.covered(c.r); given != nil {
		return given, nil
	}
	return c.ask(ctx)
}

// pass passes the call on. If the backend has a question first, the approval goes on with
// the answer to it; if it cannot do anything yet, the approval is there for the next try.
func (c *call) pass(ctx context.Context, next guard.Next) (any, error) {
	own := *c.op
	own.Exchange = c.x
	result, err := next(ctx, &own)
	if c.op.Approval == nil || err == nil {
		return result, err
	}
	ask, asks := errors.AsType[*mcp.InputRequired](err)
	rpc, _ := errors.AsType[*jsonrpc.Error](err)
	switch {
	case asks && ask.VisitFirst && !revision.Of(c.x.Peer.Revision).Stateless, rpc != nil && rpc.Code == mcp.CodeURLElicitation:
		c.g.desk.giveBack(c.r, c.op.Approval)
	case asks:
		wrapped := *ask
		if wrapped.State, err = c.g.desk.hand(&ticket{key: c.r.call, owner: ownerOf(&c.x.Peer), given: c.op.Approval}, keep, ask.State); err != nil {
			return nil, err
		}
		return nil, &wrapped
	}
	return result, err
}
