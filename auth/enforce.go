package auth

import (
	"context"

	"github.com/parley-mcp/parley/internal/scope"
	"github.com/parley-mcp/parley/internal/wire"
	"github.com/parley-mcp/parley/mcp"
	"github.com/parley-mcp/parley/server"
)

// Enforce is middleware that holds each exchange to Options.Rules; give it to
// server.Server.Use. What an exchange lacks is a *mcp.ForbiddenError: over HTTP
// a 403 with a challenge of all scopes that the operation needs. It refuses
// exchanges that did not come through Protect: a server that is also served
// where nobody is authenticated, such as over standard streams, is another one
// without it.
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
		return next(ctx, x)
	}
}

// Require returns nil when whoever sent x was granted scopes and those that
// every request needs, by name or by a broader scope; and else a
// *mcp.ForbiddenError for the handler to return. What a call needs may depend on
// its arguments; it should be asked for at once, because each question can send
// the user to the authorization server.
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
// server.Options.Visible, together with Enforce. A client that is to find out
// about an operation before it has the scopes for it, and ask for them then,
// has to see it; so leave Visible out where that is wanted.
//
// Spec: 2026-07-28 server/tools#capabilities.
func (g *Guard) Visible(_ context.Context, x *mcp.Exchange, kind server.FeatureKind, name string) bool {
	needed := g.rules.feature(kind, name)
	return len(needed) == 0 || g.Require(x, needed...) == nil
}

// feature returns the scopes that the use of a feature needs.
func (r *rules) feature(kind server.FeatureKind, name string) []string {
	switch kind {
	case server.ToolFeature:
		return scope.Union(r.methods[mcp.MethodCallTool], r.tools[name])
	case server.PromptFeature:
		return scope.Union(r.methods[mcp.MethodGetPrompt], r.prompts[name])
	case server.ResourceFeature, server.TemplateFeature:
		return scope.Union(r.methods[mcp.MethodReadResource], r.resource(name))
	}
	return nil
}

// target is what an exchange is about.
type target struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
	Ref  struct {
		Type string `json:"type"`
		Name string `json:"name"`
		URI  string `json:"uri"`
	} `json:"ref"`
}

// exchange returns the scopes that an exchange needs.
func (r *rules) exchange(x *mcp.Exchange) ([]string, error) {
	needed := r.methods[x.Method]
	switch x.Method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource, mcp.MethodComplete:
	default:
		return needed, nil
	}
	// Two parsers that disagree on which member counts are a way around.
	if x.CaseVariant != "" {
		return nil, mcp.InvalidParams("params member %q differs only in case from a name of the protocol", x.CaseVariant)
	}
	var t target
	if err := wire.Unmarshal(orEmpty(x.Params), &t); err != nil {
		return nil, mcp.InvalidParams("params of %s: %v", x.Method, err)
	}
	return scope.Union(needed, r.target(x.Method, &t)), nil
}

func (r *rules) target(method string, t *target) []string {
	switch method {
	case mcp.MethodCallTool:
		return r.tools[t.Name]
	case mcp.MethodGetPrompt:
		return r.prompts[t.Name]
	case mcp.MethodReadResource:
		return r.resource(t.URI)
	}
	return scope.Union(r.prompts[t.Ref.Name], r.resource(t.Ref.URI))
}

func orEmpty(params []byte) []byte {
	if params == nil {
		return []byte("{}")
	}
	return params
}
