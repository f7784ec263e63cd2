// Package policy decides by Cedar policies who may do what through a gateway: the
// principal and its claims, the method as the action, the tool, prompt or resource
// with its annotations, and the arguments of the call.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

var (
	_ guard.Looker     = (*Policy)(nil)
	_ guard.Introducer = (*Policy)(nil)
)

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
		return syntax(s.Name, err)
	}
	for _, policy := range list {
		at := policy.Position()
		id := cmp.Or(string(policy.Annotations()["id"]), fmt.Sprintf("%s:%d:%d", s.Name, at.Line, at.Column))
		if _, ok := policy.Annotations()[demand]; ok && policy.Effect() != types.Permit {
			return mistake(policy, "@approval is for policies that permit; this one forbids, which no human can change")
		}
		if err := named(policy); err != nil {
			return err
		}
		if !set.Add(types.PolicyID(id), policy) {
			return mistake(policy, "there is another policy %q; give one of them an @id of its own", id)
		}
	}
	return nil
}

// Serve implements guard.Guard: what is denied does not reach the backend.
func (p *Policy) Serve(ctx context.Context, op *guard.Operation, next guard.Next) (any, error) {
	d := p.Decide(ask(op))
	for _, m := range d.Mistakes {
		p.opts.Logger.Warn("a policy cannot be evaluated", "policy", m, "mend", Mend)
	}
	if d.Allowed {
		p.mark(ctx, op, d.Demands)
		return next(ctx, op)
	}
	p.opts.Logger.Info("denied by policy", "dry_run", p.opts.DryRun, "principal", op.Exchange.Peer.Principal,
		"method", op.Method.Name, "backend", op.Backend, "subject", op.Subject, "policies", names(d.Reasons))
	if p.opts.DryRun {
		guard.Remark(ctx, dryRun+"denied: "+d.explained())
		return next(ctx, op)
	}
	return nil, refusal(op, d)
}

// mark has an operation approved by a human, which is up to another guard.
func (p *Policy) mark(ctx context.Context, op *guard.Operation, demands []string) {
	switch {
	case len(demands) == 0:
	case p.opts.DryRun:
		guard.Remark(ctx, dryRun+"approved by a human first: "+strings.Join(demands, "; "))
		p.opts.Logger.Info("policies want a human to approve it", "dry_run", true, "principal", op.Exchange.Peer.Principal,
			"method", op.Method.Name, "backend", op.Backend, "subject", op.Subject, "why", demands)
	default:
		op.Demands = append(op.Demands, demands...)
	}
}

// dryRun begins remarks on what a dry run does not do.
const dryRun = "policy: dry run: it would be "

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
