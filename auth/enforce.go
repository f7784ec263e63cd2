package auth

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Enforce is middleware that applies Options.Rules to each exchange; give it to
// server.Server.Use. An exchange that lacks scopes fails with a
// *mcp.ForbiddenError: over HTTP a 403 with a challenge of all scopes that the
// operation needs. A subscription to several things is narrowed to those that
// the client may list or read. Enforce refuses exchanges that did not come
// through Protect: if the features are also served where nobody is
// authenticated, such as over standard streams, serve them there with another
// Server that does not use it.
//
// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func (g *Guard) Enforce(next mcp.ServeFunc) mcp.ServeFunc {
	return func(ctx context.Context, x *mcp.Exchange) (any, error) {
		needed, err := g.rules.exchange(x)
		if err == nil {
			err = g.Require(x, needed...)
		}
		if err != nil {
			return nil, err
		}
		if x.Watch != nil {
			g.narrow(x)
		}
		return next(ctx, x)
	}
}

// Require returns nil if the sender of x was granted scopes, and those that
// every request needs, by name or by a broader scope. Otherwise it returns a
// *mcp.ForbiddenError for the handler to return. Use it where the scopes that a
// call needs depend on its arguments, and require all of them in one call,
// because each refusal can send the user to the authorization server.
//
// Spec: 2026-07-28 basic/authorization#runtime-insufficient-scope-errors.
func (g *Guard) Require(x *mcp.Exchange, scopes ...string) error {
	needed := scope.Union(g.opts.Scopes, scopes)
	a := x.Peer.Authorization
	if a != nil && g.scopes.grantsAll(a.Scopes, needed) {
		return nil
	}
	reason := "the operation needs more scopes than were granted"
	if a == nil {
		reason = "the operation needs an access token"
	}
	return &mcp.ForbiddenError{
		Reason:    reason,
		Challenge: g.challenge(&refusal{code: codeScope, reason: reason, scopes: needed}),
	}
}

// Visible shows a client only what Options.Rules let it use: it is for
// server.Options.Visible, together with Enforce. Leave it out if clients should
// see operations that they lack the scopes for, and ask for those scopes when
// they try.
//
// Spec: 2026-07-28 server/tools#capabilities.
func (g *Guard) Visible(_ context.Context, x *mcp.Exchange, kind mcp.FeatureKind, name string) bool {
	needed := g.rules.feature(kind, name)
	return len(needed) == 0 || g.Require(x, needed...) == nil
}

// feature returns the scopes that the use of a feature needs.
func (r *rules) feature(kind mcp.FeatureKind, name string) []string {
	return scope.Union(r.methods[usedBy[kind]], r.named(kind, name))
}

// named returns the scopes of the rules about a feature.
func (r *rules) named(kind mcp.FeatureKind, name string) []string {
	switch kind {
	case mcp.ToolFeature:
		return r.tools[name]
	case mcp.PromptFeature:
		return r.prompts[name]
	case mcp.ResourceFeature, mcp.TemplateFeature:
		return r.resource(name)
	case mcp.TaskFeature: // whoever may call the tool may ask about what comes of it
	}
	return nil
}

// usedBy holds the method by which each kind of feature is used.
var usedBy = func() map[mcp.FeatureKind]string {
	uses := map[mcp.FeatureKind]string{}
	for _, m := range mcp.Methods() {
		if m.Feature != 0 && !m.Connection && m.Extension == "" {
			uses[m.Feature] = m.Name
		}
	}
	uses[mcp.TemplateFeature] = uses[mcp.ResourceFeature]
	delete(uses, mcp.TaskFeature) // no one of its methods is what tasks are for
	return uses
}()

// exchange returns the scopes that an exchange needs. Params that do not decode
// are refused here: if two parsers disagreed about them, that would be a way
// around the rules.
func (r *rules) exchange(x *mcp.Exchange) ([]string, error) {
	needed := r.methods[x.Method]
	m := mcp.MethodNamed(x.Method)
	if m == nil || m.Feature == 0 && x.Method != mcp.MethodComplete {
		return needed, nil
	}
	params := m.NewParams()
	if err := wire.Unmarshal(orEmpty(x.Params), params); err != nil {
		return nil, mcp.InvalidParams("params of %s: %v", x.Method, err)
	}
	if p, ok := params.(*mcp.CompleteParams); ok {
		return scope.Union(needed, r.prompts[p.Ref.Name], r.resource(p.Ref.URI)), nil
	}
	return scope.Union(needed, r.feature(m.Feature, m.SubjectOf(x.Params))), nil
}

// narrow removes from a subscription what the client of an exchange may not
// list or read.
func (g *Guard) narrow(x *mcp.Exchange) {
	f := &x.Watch.Filter
	for _, m := range mcp.Methods() {
		if m.List && g.Require(x, g.rules.methods[m.Name]...) != nil {
			f.Drop(m.Change)
		}
	}
	if g.Require(x, g.rules.methods[mcp.MethodGetTask]...) != nil {
		f.Drop(mcp.TaskChanged)
	}
	f.ResourceSubscriptions = slices.DeleteFunc(slices.Clone(f.ResourceSubscriptions), func(uri string) bool {
		return g.Require(x, g.rules.feature(mcp.ResourceFeature, uri)...) != nil
	})
}

func orEmpty(params []byte) []byte {
	if params == nil {
		return []byte("{}")
	}
	return params
}
