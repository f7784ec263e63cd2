package policy_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/guard"
	"github.com/parley-mcp/parley/cmd/parley/internal/gateway/policy"
	"github.com/parley-mcp/parley/mcp"
)

// peers differ in one thing each.
func peers() []*mcp.Peer {
	some := func(change func(*mcp.Peer, *mcp.Authorization)) *mcp.Peer {
		p, a := *alice, *alice.Authorization
		p.Authorization = &a
		change(&p, &a)
		return &p
	}
	return []*mcp.Peer{
		nobody, alice,
		some(func(p *mcp.Peer, _ *mcp.Authorization) { p.SessionID = "1" }),
		some(func(p *mcp.Peer, _ *mcp.Authorization) { p.Revision = mcp.Revision20251125 }),
		some(func(p *mcp.Peer, _ *mcp.Authorization) { p.Principal = "bob" }),
		some(func(p *mcp.Peer, _ *mcp.Authorization) { p.Authorization = nil }),
		some(func(_ *mcp.Peer, a *mcp.Authorization) { a.Claims = json.RawMessage(`{"groups":["guests"]}`) }),
		some(func(_ *mcp.Peer, a *mcp.Authorization) { a.Scopes = nil }),
		some(func(_ *mcp.Peer, a *mcp.Authorization) { a.ClientID = "robot" }),
		some(func(_ *mcp.Peer, a *mcp.Authorization) { a.Issuer, a.Subject = "https://issuer.examplea", "lice" }),
	}
}

// What a policy remembers of somebody, or of a tool, is never taken for something of
// another one.
func TestWhatIsRemembered(t *testing.T) {
	rules := []string{
		`permit(principal is User, action, resource);`,
		`permit(principal in Group::"staff", action, resource);`,
		`permit(principal in Scope::"files", action, resource);`,
		`permit(principal, action, resource) when { principal has client && principal.client == "robot" };`,
		`permit(principal, action, resource) when { principal has subject && principal.subject == "alice" };`,
		`permit(principal == User::"bob", action, resource);`,
		`permit(principal, action, resource) when { context.session };`,
		`permit(principal, action, resource) when { context.revision == "2025-11-25" };`,
		`permit(principal, action, resource == Tool::"files__read");`,
		`permit(principal, action, resource) when { resource.name == "read" && resource.backend == "files" };`,
		`permit(principal, action, resource) when { resource has readOnly && resource.readOnly };`,
	}
	tools := []guard.Definition{
		{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "files__read"},
		{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "files__read", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "look"},
		{Kind: mcp.ToolFeature, Backend: "files", Name: "write", Shown: "files__read"},
		{Kind: mcp.ToolFeature, Backend: "other", Name: "read", Shown: "files__read"},
		{Kind: mcp.PromptFeature, Backend: "files", Name: "read", Shown: "files__read"},
	}
	for _, rule := range rules {
		remembers := load(t, rule, policy.Options{})
		answers := map[string]bool{}
		for range 2 {
			for i, peer := range peers() {
				for j := range tools {
					d := &tools[j]
					q := &policy.Question{Peer: peer, Method: mcp.MethodCallTool, Backend: d.Backend, Kind: d.Kind, Name: d.Name, Shown: d.Shown, Annotations: d.Annotations}
					fresh := load(t, rule, policy.Options{})
					if got, want := remembers.Sees(t.Context(), peer, d), fresh.Sees(t.Context(), peer, d); got != want {
						t.Errorf("%s: peer %d sees %+v: %t", rule, i, d, got)
					}
					if got, want := remembers.Decide(q).Allowed, fresh.Decide(q).Allowed; got != want {
						t.Errorf("%s: peer %d may use %+v: %t", rule, i, d, got)
					}
					answers[fmt.Sprint(fresh.Decide(q).Allowed)] = true
				}
			}
		}
		if len(answers) != 2 {
			t.Errorf("%s: all answers are the same", rule)
		}
	}
}

// A list of a view has what could be called in that view, whatever another one has.
func TestViews(t *testing.T) {
	p := load(t, `permit(principal, action, resource);
forbid(principal, action, resource == Tool::"shop__pay") when { context.view == "work" };
forbid(principal, action, resource == Tool::"shop__buy") unless { context.view == "work" };`, policy.Options{})
	want := map[string]bool{" pay": true, " buy": false, "work pay": false, "work buy": true, "home pay": true, "home buy": false}
	var tools []*guard.Definition
	for _, name := range []string{"pay", "buy"} {
		tools = append(tools, &guard.Definition{Kind: mcp.ToolFeature, Backend: "shop", Name: name, Shown: "shop__" + name})
	}
	for range 2 { // what is remembered is the same
		for _, view := range []string{"", "work", "home"} {
			sees := guard.Look(t.Context(), []guard.Guard{p}, alice, view)
			for _, d := range tools {
				q := &policy.Question{Peer: alice, View: view, Method: mcp.MethodCallTool, Backend: d.Backend, Kind: d.Kind, Name: d.Name, Shown: d.Shown}
				may := want[view+" "+d.Name]
				if got := sees(d); got != may {
					t.Errorf("view %q: %s is listed: %t", view, d.Name, got)
				}
				if got := p.Decide(q).Allowed; got != may {
					t.Errorf("view %q: %s may be called: %t", view, d.Name, got)
				}
			}
		}
	}
}

// What no arguments permit because a policy cannot be evaluated is not listed; what some
// arguments permit is.
func TestUnsureSights(t *testing.T) {
	tool := &guard.Definition{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "files__read"}
	for condition, want := range map[string]bool{
		`principal.claims.nothing > 3`:                                      false,
		`resource.nothing`:                                                  false,
		`context.view > 3`:                                                  false,
		`context.view > 3 && context.arguments.amount > 3`:                  false,
		`context.arguments.amount > 3`:                                      true,
		`context.arguments.amount > 3 || context.view > 3`:                  true,
		`context.arguments.a.b.contains(3)`:                                 true,
		`context.arguments has amount && context.arguments.amount > 3`:      true,
		`context.arguments.a.lessThan(decimal("1.0"))`:                      true,
		`[context.arguments.a].contains({b: context.arguments})`:            true,
		`if context.arguments has a then context.arguments.a else false`:    true,
		`principal.claims has nothing && principal.claims.nothing > 3`:      true,
		`context.arguments has a.b && context.arguments.a.b like "/etc/**"`: true,
	} {
		p := load(t, `permit(principal, action, resource); forbid(principal, action, resource) when { `+condition+` };`, policy.Options{})
		if got := p.Sees(t.Context(), alice, tool); got != want {
			t.Errorf("%s: it is listed: %t", condition, got)
		}
	}
}

// What is remembered is bounded, and what is forgotten is decided again.
func TestForgetting(t *testing.T) {
	p := load(t, `permit(principal in Group::"staff", action, resource);`, policy.Options{})
	d := &guard.Definition{Kind: mcp.ToolFeature, Backend: "files", Name: "read", Shown: "files__read"}
	for i := range 2 * policy.MaxAskers {
		peer := &mcp.Peer{Principal: fmt.Sprint(i), Authorization: &mcp.Authorization{Claims: json.RawMessage(fmt.Sprintf(`{"groups":[%q]}`, []string{"staff", "guests"}[i%2]))}}
		if got := p.Sees(t.Context(), peer, d); got != (i%2 == 0) {
			t.Fatalf("peer %d: %t", i, got)
		}
		if n := p.Askers(); n > policy.MaxAskers {
			t.Fatalf("%d are remembered", n)
		}
	}
}
