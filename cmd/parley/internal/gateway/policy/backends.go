package policy

import (
	"context"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/batch"

	"github.com/parley-mcp/parley/mcp"
)

// uses are the methods by which something of a backend is used.
var uses = []string{use(mcp.ToolFeature), use(mcp.PromptFeature), use(mcp.ResourceFeature)}

// Introduces implements guard.Introducer: a backend introduces itself to whom the use of
// something that it may have could be permitted.
func (p *Policy) Introduces(ctx context.Context, peer *mcp.Peer, view, backend string) bool {
	if p.opts.DryRun {
		return true
	}
	a := p.askers.of(peer)
	return p.seen(a, sight{view: view, backend: backend}, func() (bool, error) {
		context := withUnknownArguments((&Question{Peer: peer, View: view}).context())
		for _, method := range uses {
			if ok, err := p.usable(ctx, a, method, backend, context); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	})
}

// usable reports whether a method could be permitted for something of a backend, whatever
// that is.
func (p *Policy) usable(ctx context.Context, a *asker, method, backend string, context types.Record) (usable bool, err error) {
	world, request := request(a, action(method), types.Entity{UID: backendOf(backend)}, backend, context)
	err = batch.Authorize(ctx, p.about(request.Resource), world, batch.Request{
		Principal: request.Principal, Action: request.Action, Resource: batch.Ignore(), Context: context,
	}, func(r batch.Result) error {
		usable = bool(r.Decision) && !p.forbidden(r.Decision, r.Diagnostic)
		return nil
	})
	return usable, err
}

// about returns the policies that can permit something of a backend, and those that forbid
// all of it.
func (p *Policy) about(backend types.EntityUID) *cedar.PolicySet {
	set := cedar.NewPolicySet()
	for id, policy := range p.set.All() {
		some, all := covers((*ast.Policy)(policy.AST()).Resource, backend)
		if all || some && policy.Effect() == types.Permit {
			set.Add(id, policy)
		}
	}
	return set
}

// covers reports whether the scope of a policy has some of a backend, as far as it says,
// and all of it.
func covers(scope ast.IsResourceScopeNode, backend types.EntityUID) (some, all bool) {
	switch s := scope.(type) {
	case ast.ScopeTypeIn:
		within := s.Entity == backend
		return within || s.Entity.Type != backend.Type, within
	case ast.ScopeTypeIsIn:
		return s.Entity == backend || s.Entity.Type != backend.Type, false
	case ast.ScopeTypeEq:
		return s.Entity.Type != backend.Type, false
	case ast.ScopeTypeIs:
		return true, false
	}
	return true, true
}
