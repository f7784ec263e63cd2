// Package policy decides by Cedar policies who may do what through a gateway: the
// principal and its claims, the method as the action, the tool, prompt or resource
// with its annotations, and the arguments of the call.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/mcp"
)

// Options configure a Policy.
type Options struct {
	// AllowByDefault permits what no policy forbids. Otherwise only that is permitted
	// which a policy permits.
	AllowByDefault bool
	// DryRun only logs what would be denied.
	DryRun bool
	// Logger gets denials and the mistakes of policies. nil means slog.Default().
	Logger *slog.Logger
}

// Policy is a guard that decides by a set of policies.
type Policy struct {
	opts Options
	set  *cedar.PolicySet
	// plain and inContext are the parts of set that say nothing of the context, and that
	// do; inContext is nil if there are none.
	plain, inContext *cedar.PolicySet
	askers           askers
	things           things
}

var _ guard.Looker = (*Policy)(nil)

// Source is a text of policies, and the name of its file for messages.
type Source struct{ Name, Text string }

// demand is the annotation of a policy that permits only what a human approves.
const demand types.AnnotationKey = "approval"

// byDefault permits everything; policies that forbid are stronger.
const byDefault types.PolicyID = "default"

// New reads policies. An error names the file, and the place of the mistake.
func New(sources []Source, o Options) (*Policy, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	set := cedar.NewPolicySet()
	for _, s := range sources {
		if err := add(set, s); err != nil {
			return nil, err
		}
	}
	if o.AllowByDefault {
		var all cedar.Policy
		if err := all.UnmarshalCedar([]byte("permit(principal, action, resource);")); err != nil {
			return nil, err
		}
		set.Add(byDefault, &all)
	}
	plain, inContext, err := split(set)
	if err != nil {
		return nil, err
	}
	return &Policy{opts: o, set: set, plain: plain, inContext: inContext}, nil
}

// add adds the policies of a source to a set, each by its place or by its @id, which
// must be its own.
func add(set *cedar.PolicySet, s Source) error {
	list, err := cedar.NewPolicyListFromBytes(s.Name, []byte(s.Text))
	if err != nil {
		return fmt.Errorf("%s is no list of Cedar policies: %w", s.Name, err)
	}
	for _, policy := range list {
		at := policy.Position()
		id := cmp.Or(string(policy.Annotations()["id"]), fmt.Sprintf("%s:%d:%d", s.Name, at.Line, at.Column))
		if _, ok := policy.Annotations()[demand]; ok && policy.Effect() != types.Permit {
			return fmt.Errorf("%s:%d:%d: @approval is for policies that permit; this one forbids, which no human can change", s.Name, at.Line, at.Column)
		}
		if !set.Add(types.PolicyID(id), policy) {
			return fmt.Errorf("%s:%d:%d: there is another policy %q; give one of them an @id of its own", s.Name, at.Line, at.Column, id)
		}
	}
	return nil
}

// Decision is what the policies say about a question, and which of them say so.
type Decision struct {
	Allowed bool
	// Reasons are the policies that decided; none if nothing permits.
	Reasons []Reason
	// Demands are why a human has to approve what is allowed: what the annotations
	// @approval say of the policies that permit it, and of those that could not be
	// evaluated. That others permit it, too, makes no difference.
	Demands []string
	// Mistakes are policies that could not be evaluated, and so had no say.
	Mistakes []string
}

// Reason is a policy that decided.
type Reason struct {
	// ID is the policy's annotation @id, or FILE:LINE:COLUMN.
	ID string
	// Text is the policy's annotation @reason: what the one who asked is told.
	Text string
	// File and Line are where the policy stands; "" is the default.
	File string
	Line int
}

// Decide answers a question.
func (p *Policy) Decide(q *Question) Decision {
	var context types.Record
	if p.inContext != nil { // somebody will look at it
		context = q.context()
	}
	world, request := request(p.askers.of(q.Peer), action(q.Method), p.things.of(q.about()), q.Backend, context)
	decided, diagnostic := cedar.Authorize(p.set, world, request)
	d := Decision{Allowed: bool(decided)}
	var permits, mistaken []types.PolicyID
	for _, r := range diagnostic.Reasons {
		permits = append(permits, r.PolicyID)
		d.Reasons = append(d.Reasons, p.reason(r.PolicyID))
	}
	for _, e := range diagnostic.Errors {
		mistaken = append(mistaken, e.PolicyID)
		d.Mistakes = append(d.Mistakes, p.reason(e.PolicyID).ID+": "+e.Message)
	}
	slices.SortFunc(d.Reasons, func(a, b Reason) int { return strings.Compare(a.ID, b.ID) })
	slices.Sort(d.Mistakes)
	if d.Allowed {
		d.Demands = p.demands(append(permits, mistaken...))
	}
	return d
}

// demands returns why the policies of these IDs want a human to approve what they permit.
func (p *Policy) demands(ids []types.PolicyID) (why []string) {
	for _, id := range ids {
		text, ok := p.set.Get(id).Annotations()[demand]
		if !ok {
			continue
		}
		why = append(why, cmp.Or(string(text), "the policy "+string(id)+" wants it"))
	}
	slices.Sort(why)
	return slices.Compact(why)
}

// Demands reports whether there are policies that want a human's approval.
func (p *Policy) Demands() bool {
	for _, policy := range p.set.All() {
		if _, ok := policy.Annotations()[demand]; ok {
			return true
		}
	}
	return false
}

func (p *Policy) reason(id types.PolicyID) Reason {
	policy := p.set.Get(id)
	if id == byDefault {
		return Reason{ID: string(id)}
	}
	at := policy.Position()
	return Reason{ID: string(id), Text: string(policy.Annotations()["reason"]), File: at.Filename, Line: at.Line}
}

// String says why, for whoever asked.
func (d Decision) String() string {
	var texts []string
	for _, r := range d.Reasons {
		if r.Text != "" && !slices.Contains(texts, r.Text) {
			texts = append(texts, r.Text)
		}
	}
	switch {
	case len(texts) > 0:
		return strings.Join(texts, "; ")
	case d.Allowed:
		return "a policy permits it"
	case len(d.Reasons) > 0:
		return "a policy forbids it"
	}
	return "no policy permits it"
}

// Serve implements guard.Guard: what is denied does not reach the backend.
func (p *Policy) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	d := p.Decide(ask(op))
	for _, m := range d.Mistakes {
		p.opts.Logger.Warn("a policy cannot be evaluated, and has no say", "policy", m)
	}
	if d.Allowed {
		p.mark(op, d.Demands)
		return next(ctx, op)
	}
	p.opts.Logger.Info("denied by policy", "dry_run", p.opts.DryRun, "principal", op.Exchange.Peer.Principal,
		"method", op.Method.Name, "backend", op.Backend, "subject", op.Subject, "policies", names(d.Reasons))
	if p.opts.DryRun {
		return next(ctx, op)
	}
	return nil, refusal(op, d)
}

// mark has an operation approved by a human, which is up to another guard.
func (p *Policy) mark(op *guard.Operation, demands []string) {
	switch {
	case len(demands) == 0:
	case p.opts.DryRun:
		p.opts.Logger.Info("policies want a human to approve it", "dry_run", true, "principal", op.Exchange.Peer.Principal,
			"method", op.Method.Name, "backend", op.Backend, "subject", op.Subject, "why", demands)
	default:
		op.Demands = append(op.Demands, demands...)
	}
}

// refusal is the error of an operation that is denied.
func refusal(op *guard.Operation, d Decision) error {
	return &mcp.ForbiddenError{Reason: op.Method.Name + " of " + cmp.Or(op.Shown, op.Backend) + " is denied: " + d.String()}
}

func names(reasons []Reason) []string {
	var ids []string
	for _, r := range reasons {
		ids = append(ids, r.ID)
	}
	return ids
}
