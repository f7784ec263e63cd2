package auth

import (
	"context"
	"slices"

	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
)

// Enforce is middleware that holds each exchange to Options.Rules; give it to
// server.Server.Use. An exchange that lacks a scope fails with a
// *mcp.ForbiddenError: over HTTP that is a 403 with a challenge that names all
// scopes the operation needs. From a subscription, what the client may not list
// or read is left out. Exchanges that did not come through Protect are refused:
// where nobody is authenticated, such as over standard streams, serve another
// server.Server that does not have it.
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

// Require returns nil when whoever sent x was granted the scopes, and those
// that every request needs, by name or by a broader scope. Otherwise it returns
// a *mcp.ForbiddenError for the handler to return. It is for scopes that depend
// on the arguments of a call. Give it all of them at once: each refusal can
// send the user to the authorization server.
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
// server.Options.Visible, together with Enforce. Leave Visible out where
// clients are to see operations that they have no scopes for yet, so that they
// can ask for these when they try one.
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
	}
	return nil
}

// usedBy are the methods by which features are used.
var usedBy = func() map[mcp.FeatureKind]string {
	uses := map[mcp.FeatureKind]string{}
	for _, m := range mcp.Methods() {
		if m.Feature != 0 && !m.Connection {
			uses[m.Feature] = m.Name
		}
	}
	uses[mcp.TemplateFeature] = uses[mcp.ResourceFeature]
	return uses
}()

// exchange returns the scopes that an exchange needs. Params that are not what
// the method wants are refused here: two parsers that disagree on which member
// counts are a way around.
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

// narrow leaves out of a subscription what the client of an exchange may not
// list or read.
func (g *Guard) narrow(x *mcp.Exchange) {
	f := &x.Watch.Filter
	for _, m := range mcp.Methods() {
		if m.List && g.Require(x, g.rules.methods[m.Name]...) != nil {
			f.Drop(m.Change)
		}
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
