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
	"github.com/cedar-policy/cedar-go/x/exp/batch"

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
}

var _ guard.Guard = (*Policy)(nil)

// Source is a text of policies, and the name of its file for messages.
type Source struct{ Name, Text string }

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
	return &Policy{opts: o, set: set}, nil
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
	entities, request := q.request()
	decided, diagnostic := cedar.Authorize(p.set, entities, request)
	d := Decision{Allowed: bool(decided)}
	for _, r := range diagnostic.Reasons {
		d.Reasons = append(d.Reasons, p.reason(r.PolicyID))
	}
	for _, e := range diagnostic.Errors {
		d.Mistakes = append(d.Mistakes, p.reason(e.PolicyID).ID+": "+e.Message)
	}
	slices.SortFunc(d.Reasons, func(a, b Reason) int { return strings.Compare(a.ID, b.ID) })
	slices.Sort(d.Mistakes)
	return d
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
	d := p.Decide(about(op))
	for _, m := range d.Mistakes {
		p.opts.Logger.Warn("a policy cannot be evaluated, and has no say", "policy", m)
	}
	if d.Allowed {
		return next(ctx, op)
	}
	p.opts.Logger.Info("denied by policy", "dry_run", p.opts.DryRun, "principal", op.Exchange.Peer.Principal,
		"method", op.Method.Name, "backend", op.Backend, "subject", op.Subject, "policies", names(d.Reasons))
	if p.opts.DryRun {
		return next(ctx, op)
	}
	return nil, refusal(op, d)
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

// Sees implements guard.Guard: a definition is shown to whom some arguments would
// permit its use.
func (p *Policy) Sees(ctx context.Context, peer *mcp.Peer, d *guard.Definition) bool {
	if p.opts.DryRun {
		return true
	}
	q := &Question{Peer: peer, Method: use(d.Kind), Backend: d.Backend, Kind: d.Kind, Name: d.Name, Shown: d.Shown, Annotations: d.Annotations}
	entities, request := q.request()
	seen := false
	err := batch.Authorize(ctx, p.set, entities, batch.Request{
		Principal: request.Principal, Action: request.Action, Resource: request.Resource,
		Context: withUnknownArguments(request.Context),
	}, func(r batch.Result) error {
		seen = bool(r.Decision)
		return nil
	})
	return err == nil && seen
}

// withUnknownArguments is the context of a request whose arguments are not known yet.
func withUnknownArguments(c types.Record) types.Record {
	members := c.Map()
	members["arguments"] = batch.Ignore()
	return types.NewRecord(members)
}

// use is the method by which something of a list is used: the one that may ask.
func use(kind mcp.FeatureKind) string {
	if kind == mcp.TemplateFeature {
		kind = mcp.ResourceFeature
	}
	for _, m := range mcp.Methods() {
		if m.Feature == kind && m.MayAsk {
			return m.Name
		}
	}
	return ""
}
