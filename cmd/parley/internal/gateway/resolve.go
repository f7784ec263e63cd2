package gateway

import (
	"context"
	"encoding/json"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/naming"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// operation is a request whose backend has been found.
type operation struct {
	guard.Operation

	member *member
	names  *naming.Backend
}

// resolve finds the backend that a request is for, and what it is about there. Params that
// can be read in two ways are refused: what guards decide about must be what is done.
func (v *View) resolve(ctx context.Context, s *setup, x *mcp.Exchange, m *mcp.Method) (*operation, error) {
	if err := naming.Strict(x.Params); err != nil {
		return nil, err
	}
	kind, shown := naming.Subject(x.Method, x.Params)
	op, err := v.find(ctx, s, &x.Peer, kind, shown)
	if err != nil {
		return nil, err
	}
	op.Exchange, op.Method = x, m
	op.Params = op.names.Params(x.Method, x.Params, op.Subject)
	return op, nil
}

// find finds what a client has named.
func (v *View) find(ctx context.Context, s *setup, peer *mcp.Peer, kind mcp.FeatureKind, shown string) (*operation, error) {
	names, own, known := s.names.Own(kind, shown)
	if names == nil {
		return nil, unknown(kind, shown)
	}
	member := s.views[v.name].member(names.Name())
	if member == nil {
		return nil, unknown(kind, shown)
	}
	op := &operation{member: member, names: names}
	op.View, op.Backend, op.Subject, op.Shown = v.name, names.Name(), own, shown
	op.Definition = s.catalogue.Find(ctx, peer, member.backend.Name(), kind, shown)
	switch {
	case op.Definition != nil:
		op.Subject = op.Definition.Name
	case !known:
		return nil, unknown(kind, shown)
	}
	if !names.Has(kind, op.Subject) || !s.views[v.name].has(kind, shown) {
		return nil, unknown(kind, shown)
	}
	return op, nil
}

// unknown says that there is nothing of this name.
func unknown(kind mcp.FeatureKind, shown string) error {
	switch kind {
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return &mcp.ResourceNotFoundError{URI: shown}
	case mcp.ToolFeature:
		return mcp.InvalidParams("unknown tool: %.100q", shown)
	case mcp.PromptFeature:
		return mcp.InvalidParams("unknown prompt: %.100q", shown)
	case mcp.TaskFeature:
		return mcp.InvalidParams("there is no task %.100q", shown)
	}
	return mcp.InvalidParams("params do not say what the request is about")
}

// serve passes an operation through the guards of the gateway to its backend.
func (s *setup) serve(ctx context.Context, op *operation) (any, error) {
	last := func(ctx context.Context, guarded *guard.Operation) (any, error) {
		own := *op
		own.Operation = *guarded
		return own.pass(ctx)
	}
	return guard.Chain(s.guards, last)(ctx, &op.Operation)
}

// narrow makes a result that anybody could keep one for its client alone, where not
// everybody may have it.
//
// Spec: 2026-07-28 server/utilities/caching#choosing-a-cache-scope.
func (s *setup) narrow(p *part, m *mcp.Method, result any) any {
	raw, ok := result.(json.RawMessage)
	if !ok || !m.Cacheable || len(s.guards) == 0 && p.Principals == nil || !wire.Is(wire.Find(raw, "cacheScope"), string(mcp.CachePublic)) {
		return result
	}
	narrowed, err := wire.Set(raw, "cacheScope", wire.AppendText(nil, string(mcp.CachePrivate)))
	if err != nil { // a member stands twice
		return result
	}
	return json.RawMessage(narrowed)
}

// pass passes an operation on to its backend.
func (op *operation) pass(ctx context.Context) (any, error) {
	result, err := op.member.backend.Serve(ctx, behind(op.Exchange, op.names, op.Params), op.harmless())
	if err != nil {
		return nil, failure(op.names, err)
	}
	if raw, ok := result.(json.RawMessage); ok {
		return json.RawMessage(op.names.Result(op.Method.Name, raw)), nil
	}
	return result, nil
}

// harmless reports whether the request can be made twice: whatever is no tool and no task
// only reads, and of tools it is said.
func (op *operation) harmless() bool {
	switch op.Method.Feature {
	case mcp.TaskFeature:
		return false
	case mcp.ToolFeature:
		if op.Definition == nil || op.Definition.Annotations == nil {
			return false
		}
		a := op.Definition.Annotations
		return a.ReadOnlyHint || a.IdempotentHint
	case mcp.ResourceFeature, mcp.TemplateFeature, mcp.PromptFeature:
	}
	return true
}
